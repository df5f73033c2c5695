import { join } from "node:path";
import { expect, test } from "vitest";
import { accounts, addDoubles, addProfile, type Fault } from "../support/accounts.js";
import { answer, hang, html, ok, only, refuse, reset } from "../support/behaviours.js";
import { listed } from "../support/home.js";
import { ProviderDouble } from "../support/providers/double.js";
import { jsonErrors, jsonLines } from "../support/world.js";

const PROMPT = "How do tides form?";

test.each<[string, ReturnType<Fault>]>([
  ["an invalid key", refuse(401, "INVALID_API_KEY")],
  ["no access", refuse(403, "FORBIDDEN")],
  ["a rate limit", refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 9 })],
])("the create goes on after %s, and the record and the data name the profile", async (_, behaviour) => {
  const { run, succeed, posts, home } = await accounts({ one: only("create", behaviour), two: undefined });
  const seen = await succeed("create", PROMPT, "--or", "two", "--json");
  expect(JSON.parse(seen.stdout)).toMatchObject({ request_id: "two-1", profile: "two" });
  expect(jsonLines(seen.stderr)).toMatchObject([{ notice: { code: "NEXT_ACCOUNT" } }]);
  expect(posts()).toEqual([1, 1]);
  expect(await listed(home)).toMatchObject([{ request_id: "two-1", profile: "two" }]);
  // It was asked of the first, so it is the last of that.
  const output = await run("output", "@last");
  expect(output, output.stderr).toMatchObject({ code: 0, stdout: "the report of two" });
});

test("run goes on, too, and watches and fetches where it went", async () => {
  const { run, services } = await accounts({
    one: only("create", refuse(401, "INVALID_API_KEY", {}, "No such key.")),
    two: undefined,
  });
  const seen = await run("run", PROMPT, "--or", "two");
  expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: "the report of two" });
  expect(seen.stderr).toContain("profile one: No such key; nothing was created there");
  expect([...(services.two?.keys ?? [])]).toEqual(["Bearer key-of-two"]);
});

test("a service that cannot be reached, and one's own hourly limit, lead on", async () => {
  const { run, services, posts } = await accounts({ one: undefined, two: undefined });
  await run("create", "another");
  const limited = await run("create", PROMPT, "--or", "two", "--per-hour", "1");
  expect(limited).toMatchObject({ code: 0, stdout: "two-1\n" });
  await services.one?.server.close();
  const seen = await run("create", "a third", "--or", "two");
  expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: "two-2\n" });
  expect(posts()).toEqual([1, 2]);
});

test.each<[string, number, ReturnType<Fault>]>([
  ["an invalid prompt", 2, refuse(400, "VALIDATION_ERROR")],
  ["another refusal", 6, refuse(418, "TEAPOT")],
  ["a page without an envelope", 9, html(418)],
  ["a redirect", 9, answer({ status: 302, headers: { location: "https://elsewhere.example/" } })],
  ["a refused key with an id in it", 4, answer({ status: 401, body: '{"request_id":"abcd-1"' })],
  ["a rate limit with an id in it", 7, answer({ status: 429, body: '{"request_id":"abcd-1"' })],
  ["a reset", 11, reset()],
  ["silence", 11, hang()],
  ["a 500", 11, refuse(500, "INTERNAL")],
  ["a 409", 11, refuse(409, "CONFLICT")],
  ["no id", 11, ok({ status: "PENDING" })],
])("it never goes on after %s (%i)", async (_, code, behaviour) => {
  const polls: Fault = (operation) => (operation === "create" ? behaviour : refuse(404, "REQUEST_NOT_FOUND"));
  const { run, posts, home } = await accounts({ one: polls, two: undefined });
  const commands = [
    ["create", PROMPT, "--or", "two"],
    ["run", "another", "--or", "two"],
    ["create", "a third", "--or", "two", "--once"],
  ];
  for (const [nth, argv] of commands.entries()) {
    const seen = await run(...argv, "--request-timeout", "2s");
    expect(seen.stderr).not.toContain("trying two");
    expect({ argv, code: seen.code, posts: posts() }).toEqual({ argv, code, posts: [nth + 1, 0] });
  }
  const both = ["-p", "one", "-p", "two", "--request-timeout", "2s"];
  const compared = await run("compare", PROMPT, ...both, "-o", join(home, "dir"));
  expect({ code: compared.code, posts: posts() }).toEqual({ code, posts: [4, 1] });
});

test("exit and code are those of the last, and the message says what each said", async () => {
  const { run, posts } = await accounts({
    one: only("create", refuse(401, "INVALID_API_KEY")),
    two: only("create", refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 9 })),
  });
  const seen = await run("create", PROMPT, "--or", "two", "--json");
  const [error] = jsonErrors(seen.stderr);
  expect(seen.code).toBe(7);
  expect(error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", exit_code: 7, retry_after: 9 });
  expect(error?.message).toMatch(/^one: .*; two: .*$/);
  expect(posts()).toEqual([1, 1]);
});

test.each([
  ["an unknown profile", 2, ["--or", "nobody"], "nobody"],
  ["the account in use", 2, ["--or", "one"], "one was given twice"],
  ["an account twice", 2, ["--or", "two", "--or", "two"], "two was given twice"],
  ["one without a key", 4, ["--or", "two", "--or", "keyless", "--or", "poor"], "profile poor"],
  ["--base-url", 2, ["--or", "two", "--base-url", "http://127.0.0.1:1"], "--base-url"],
  ["--wait-for-quota", 2, ["--or", "two", "--wait-for-quota"], "--wait-for-quota"],
  ["--set", 2, ["--or", "two", "--set", "a=1"], "--set"],
  ["--after", 2, ["--or", "two", "--after", "abcd"], "--after"],
  ["a bare --model", 2, ["--or", "two", "--model", "deep"], "deep"],
  ["--within alone", 2, ["--within", "2h"], "--once"],
  ["per-day 0", 2, ["--per-day", "0"], "1 or more"],
])("invalid: %s", async (_, code, flags, named) => {
  const { run, posts, services } = await accounts({ one: undefined, two: undefined });
  for (const name of ["keyless", "poor"])
    await run("config", "set", "base-url", services.one?.server.url ?? "", "-p", name);
  const seen = await run("create", PROMPT, ...flags);
  expect(seen, seen.stderr).toMatchObject({ code, stdout: "" });
  expect(seen.stderr).toContain(named);
  if (code === 4) expect(seen.stderr).toContain("profile keyless");
  expect(posts()).toEqual([0, 0]);
});

test("a default model that has ended leads on; one that was named, and another refusal of it, do not", async () => {
  const { run, succeed, posts, env } = await accounts({ two: undefined });
  let body = '{"error":{"code":"model_not_found","message":"no","type":"x","param":null}}';
  const double = await ProviderDouble.start("openai", {
    fault: (operation) => (operation === "create" ? answer({ status: 404, body }) : undefined),
  });
  await addDoubles(env, double);
  await run("config", "use", "openai");
  expect(await run("create", PROMPT, "--or", "two")).toMatchObject({ code: 0, stdout: "two-1\n" });
  expect((await run("create", PROMPT, "--or", "two", "--model", "openai=gpt-x")).code).toBe(2);
  body = body
    .replace("model_not_found", "x")
    .replace("no", "The model takes a list, and text is not supported.");
  expect((await run("create", PROMPT, "--or", "two")).code).toBe(2);
  await run("config", "set", "model", "gpt-x");
  body = body.replace(/The model.*supported/, "The model gpt-6.1-sol has been deprecated");
  expect((await run("create", PROMPT, "--or", "two")).code).toBe(2);
  await run("config", "unset", "model");
  await succeed("create", PROMPT, "--or", "two");
  expect([double.server.count("create"), posts()]).toEqual([5, [2]]);
});

test("two profiles that are one key at one origin are one account", async () => {
  const { run, posts, services, env } = await accounts({ one: undefined });
  await addProfile(env, "same", services.one?.server.url ?? "", "key-of-one");
  const seen = await run("create", PROMPT, "--or", "same");
  expect(seen.code, seen.stderr).toBe(2);
  expect(seen.stderr).toContain("the same key");
  expect(posts()).toEqual([0]);
  expect(env.RESEARCH_API_KEY).toBeUndefined();
});

test("RESEARCH_API_KEY and its like are of the account in use alone", async () => {
  const { run, env, services } = await accounts({
    one: only("create", refuse(401, "INVALID_API_KEY")),
    two: undefined,
  });
  env.RESEARCH_BASE_URL = services.one?.server.url ?? "";
  env.RESEARCH_API_KEY = "key-in-the-environment";
  const seen = await run("create", PROMPT, "--or", "two");
  expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: "two-1\n" });
  expect([...(services.one?.keys ?? [])]).toEqual(["Bearer key-in-the-environment"]);
  expect([...(services.two?.keys ?? [])]).toEqual(["Bearer key-of-two"]);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as does from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { folderWith } from "../../support/folder.js";
import { foldersIn } from "../../support/home.js";
import { inProcess } from "../../support/in-process.js";
import { VirtualClock } from "../../support/virtual-clock.js";

/** A person's machine on which `login` and `config` run. */
function machine() {
  const home = folderWith();
  const folders = foldersIn(home);
  const path = join(folders.RESEARCH_CONFIG_DIR, "config.json");
  return {
    run: (argv: string[], env: Record<string, string> = {}, input = "") =>
      inProcess(argv, { env: { HOME: home, ...folders, ...env }, input, clock: new VirtualClock() }),
    login: (url: string, input = "key-12345678", ...flags: string[]) =>
      inProcess(["login", "--with-key", "--base-url", url, ...flags], {
        env: { HOME: home, ...folders },
        input,
        clock: new VirtualClock(),
      }),
    stored: () => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined),
  };
}

const answering = async (behaviour: does.Behaviour) => (await faultServer(() => behaviour)).url;
const NOT_FOUND = does.refuse(404, "REQUEST_NOT_FOUND", {}, "no such request");
/** Nothing listens there. */
const NOWHERE = "http://127.0.0.1:9";

describe("login", () => {
  test.each([
    ["an enveloped 404", NOT_FOUND],
    ["an enveloped 429", does.refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 0 }, "slowly")],
    ["an enveloped 403", does.refuse(403, "FORBIDDEN", {}, "no")],
    ["data", does.ok({ status: "PENDING" })],
  ])("%s: the key is valid", async (_, behaviour) => {
    const { login, stored } = machine();
    const url = await answering(behaviour);
    const run = await login(url, " key-12345678\n");
    expect(run).toMatchObject({ code: 0, stdout: "", stderr: `logged in to ${url} (profile default)\n` });
    expect(stored().profiles.default).toEqual({
      ...{ "base-url": url, "api-key": "key-12345678", "api-key-origin": url },
    });
  });

  test.each<[string, does.Behaviour, number]>([
    ["401 INVALID_API_KEY", does.refuse(401, "INVALID_API_KEY", {}, "no"), 4],
    ["INVALID_API_KEY with another status", does.refuse(400, "INVALID_API_KEY", {}, "no"), 4],
    ["401 without an envelope", does.answer({ status: 401, body: "no" }), 4],
    ["a page", does.answer({ status: 200, headers: { "content-type": "text/html" }, body: "hello" }), 9],
    ["a 404 page", does.answer({ status: 404, body: "not here" }), 9],
    ["a 403 page", does.answer({ status: 403, body: "not here" }), 9],
  ])("%s: nothing is saved", async (_, behaviour, code) => {
    const { login, stored } = machine();
    const run = await login(await answering(behaviour));
    expect(run).toMatchObject({ code, stdout: "" });
    expect(run.stderr).toContain("nothing was saved");
    expect(stored()).toBeUndefined();
  });

  test("no response: the key is saved with a warning, and nobody is logged in", async () => {
    const { login, stored } = machine();
    const run = await login(NOWHERE);
    expect(run).toMatchObject({ code: 0, stdout: "" });
    expect(run.stderr).toContain("could not be tested");
    expect(run.stderr).not.toContain("logged in");
    expect(stored().profiles.default["api-key-origin"]).toBe(NOWHERE);
  });

  test.each([
    ["0", 2],
    ["maybe", 2],
    ["1", 0],
  ])("RESEARCH_INSECURE_HTTP=%s and plain http to another machine", async (value, code) => {
    const { run, stored } = machine();
    const argv = ["login", "--with-key", "--base-url", "http://research.invalid", "--request-timeout", "1s"];
    const done = await run(argv, { RESEARCH_INSECURE_HTTP: value }, "key-12345678");
    expect(done.code).toBe(code);
    expect(stored() === undefined).toBe(code === 2);
  });

  test("takes the base URL of the profile that is named before that of the environment", async () => {
    const { run, stored } = machine();
    const url = await answering(NOT_FOUND);
    await run(["config", "set", "base-url", url, "--profile", "work"]);
    const env = { RESEARCH_BASE_URL: NOWHERE };
    expect(await run(["login", "--with-key", "--profile", "work"], env, "key-12345678")).toMatchObject({
      code: 0,
      stderr: `logged in to ${url} (profile work)\n`,
    });
    expect(stored()).toMatchObject({ profile: "work", profiles: { work: { "api-key-origin": url } } });
    const again = await run(["login", "--with-key", "--profile", "work"], env, "key-12345678");
    expect(again.stderr).toBe(`logged in to ${url} (profile work)\n`);
  });

  test("an empty RESEARCH_BASE_URL is an unset one", async () => {
    const { run } = machine();
    const url = await answering(NOT_FOUND);
    await run(["config", "set", "base-url", url]);
    const env = { RESEARCH_BASE_URL: "" };
    expect((await run(["login", "--with-key"], env, "key-12345678")).code).toBe(0);
    expect((await run(["config", "set", "api-key"], env, "key-12345678")).code).toBe(0);
  });

  test.each([
    [[], "", 2, "research login --base-url URL --with-key < keyfile"],
    [["--provider", "exa"], "", 2, "research login exa --with-key < keyfile"],
    [["--with-key"], "k", 2, "no base URL"],
    [["--with-key", "--base-url", NOWHERE], " \n", 4, "no key was given"],
  ])("%j with %j ends with %d", async (flags, input, code, message) => {
    const { run, stored } = machine();
    const done = await run(["login", ...flags], {}, input);
    expect(done).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(stored()).toBeUndefined();
  });
});

describe("several accounts", () => {
  const account = (...words: string[]) => ["login", "--with-key", ...words];
  const at = (url: string) => ["--base-url", url];

  test("each provider has a profile of its name, and the newest account comes into use", async () => {
    const { run, stored } = machine();
    const [one, two] = [await answering(NOT_FOUND), await answering(NOT_FOUND)];
    const first = await run(account("openai", ...at(one)), {}, "key-of-one-1");
    expect(first.stderr).toMatch(
      /^logged in to \S+ \(profile openai\)\nOpenAI support was written from its documentation.*\n$/,
    );
    const second = await run(account("--provider", "exa", ...at(two)), {}, "key-of-two-2");
    expect(second.stderr.split("\n").slice(2)).toEqual([
      "switched from profile openai to exa; to switch back: research config use openai",
      "accounts: openai, exa (in use)",
      "",
    ]);
    const again = await run(account("openai", "--provider", "openai", ...at(one)), {}, "key-of-one-3");
    expect(again.stderr.split("\n").slice(2)).toEqual([
      "profile openai is not in use: pass --profile openai, or run: research config use openai",
      "accounts: openai, exa (in use)",
      "",
    ]);
    expect(stored()).toEqual({
      profile: "exa",
      profiles: {
        openai: { provider: "openai", "base-url": one, "api-key": "key-of-one-3", "api-key-origin": one },
        exa: { provider: "exa", "base-url": two, "api-key": "key-of-two-2", "api-key-origin": two },
      },
    });
    const list = await run(["config", "list"]);
    expect(list.stdout).toContain(`account\t${one}\topenai\naccount\t${two}\texa, in use\n`);
    expect(JSON.parse((await run(["config", "list", "--json"])).stdout).accounts).toEqual([
      { profile: "openai", provider: "openai", base_url: one, in_use: false },
      { profile: "exa", provider: "exa", base_url: two, in_use: true },
    ]);
    await run(["config", "use", "openai"]);
    expect((await run(account("research", ...at(one)), {}, "key-of-own-4")).stderr).toContain(
      "switched from profile openai to default; to switch back: research config use openai\n",
    );
    expect((await run(["config", "get", "base-url"])).stdout).toBe(`${one}\n`);
  });

  test("with -p, or RESEARCH_PROFILE, it comes into use only if no other was", async () => {
    const { run, stored } = machine();
    const url = await answering(NOT_FOUND);
    await run(account("exa", ...at(url), "-p", "a"), {}, "key-of-a-111");
    expect(stored().profile).toBe("a");
    const second = await run(account("exa", ...at(url)), { RESEARCH_PROFILE: "b" }, "key-of-b-111");
    expect(second, second.stderr).toMatchObject({ code: 0 });
    await run(account(...at(url), "-p", "c"), {}, "key-of-c-111");
    expect(stored()).toMatchObject({ profile: "a", profiles: { a: {}, b: {}, c: {} } });
  });

  test.each<[string, (url: string) => string[]]>([
    ["of another provider", (url) => ["exa", "-p", "openai", ...at(url)]],
    ["of the interface", (url) => ["research", "-p", "openai", ...at(url)]],
    ["at another origin", () => ["openai", ...at(NOWHERE)]],
    ["at the provider's own address", () => ["openai"]],
  ])("an account %s never replaces the key that a profile has", async (_, words) => {
    const { run, stored } = machine();
    const url = await answering(NOT_FOUND);
    await run(account("openai", ...at(url)), {}, "key-of-one-1");
    const before = stored();
    const seen = await run(account(...words(url)), {}, "key-of-two-2");
    expect(seen).toMatchObject({ code: 2, stdout: "" });
    expect(seen.stderr).toContain(
      `the profile openai has the key of another account, at ${url}: add -p NAME to store this key in another profile, or delete that key first with \`research logout -p openai\``,
    );
    expect(stored()).toEqual(before);
    await run(["logout", "-p", "openai"]);
    expect((await run(account(...words(url)), {}, "key-of-two-2")).stderr).not.toContain("another account");
  });

  test.each([
    [["exa", "--provider", "openai"], "two providers: exa and --provider openai"],
    [["openal"], "research, openai, perplexity, exa, parallel, gemini, tavily"],
    [["--provider", "openal"], "research, openai, perplexity, exa, parallel, gemini, tavily"],
  ])("%j is bad input (2)", async (words, message) => {
    const { run, stored } = machine();
    const seen = await run(account(...words), {}, "key-12345678");
    expect(seen).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    expect(stored()).toBeUndefined();
  });

  test("without a provider, RESEARCH_PROVIDER names it, and -p takes the provider of the profile", async () => {
    const { run, stored } = machine();
    const url = await answering(NOT_FOUND);
    const env = { RESEARCH_PROVIDER: "exa", RESEARCH_BASE_URL: url };
    expect(await run(account(), env, "key-12345678")).toMatchObject({ code: 0 });
    expect(await run(account("-p", "exa"), {}, "key-87654321")).toMatchObject({ code: 0 });
    expect(stored().profiles.exa).toMatchObject({
      provider: "exa",
      "base-url": url,
      "api-key": "key-87654321",
    });
  });
});

test("logout forgets the key of the profile, and no other setting", async () => {
  const { run, login, stored } = machine();
  expect(await run(["logout"])).toMatchObject({ code: 0, stderr: "no key is stored (profile default)\n" });
  await login(NOWHERE);
  expect((await run(["logout"])).code).toBe(0);
  expect(stored().profiles.default).toEqual({ "base-url": NOWHERE });
});

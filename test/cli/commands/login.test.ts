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
  const own = foldersIn(home);
  const path = join(own.RESEARCH_CONFIG_DIR, "config.json");
  return {
    run: (argv: string[], env: Record<string, string> = {}, input = "") =>
      inProcess(argv, { env: { HOME: home, ...own, ...env }, input, clock: new VirtualClock() }),
    login: (url: string, input = "key-12345678", ...flags: string[]) =>
      inProcess(["login", "--with-key", "--base-url", url, ...flags], {
        env: { HOME: home, ...own },
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
    expect(run.stderr).toContain("could not be tried");
    expect(run.stderr).not.toContain("logged in");
    expect(stored().profiles.default["api-key-origin"]).toBe(NOWHERE);
  });

  test("no response: the warning names the origin whose key is replaced", async () => {
    const { login, stored } = machine();
    const url = await answering(NOT_FOUND);
    await login(url);
    const run = await login(NOWHERE);
    expect(run).toMatchObject({ code: 0, stdout: "" });
    expect(run.stderr).toContain(`in place of the key for ${url}, but could not be tried`);
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
      stderr: `logged in to ${url} (profile work)\nprofile work is not in use: pass --profile work, or run: research config use work\n`,
    });
    expect(stored().profiles.work["api-key-origin"]).toBe(url);
    await run(["config", "use", "work"]);
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
    [["--provider", "exa"], "", 2, "research login --provider exa --with-key < keyfile"],
    [["--with-key"], "k", 2, "no base URL"],
    [["--with-key", "--base-url", NOWHERE], " \n", 4, "no key was given"],
  ])("%j with %j ends with %d", async (flags, input, code, message) => {
    const { run, stored } = machine();
    const done = await run(["login", ...flags], {}, input);
    expect(done).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(stored()).toBeUndefined();
  });
});

test("logout forgets the key of the profile, and no other setting", async () => {
  const { run, login, stored } = machine();
  expect(await run(["logout"])).toMatchObject({ code: 0, stderr: "no key is stored (profile default)\n" });
  await login(NOWHERE);
  expect((await run(["logout"])).code).toBe(0);
  expect(stored().profiles.default).toEqual({ "base-url": NOWHERE });
});

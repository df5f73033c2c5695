import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../support/folder.js";
import { foldersIn, homeWith } from "../../support/home.js";
import { inProcess } from "../../support/in-process.js";

/** A person's machine on which `config` runs. */
function machine() {
  const home = folderWith();
  const folders = foldersIn(home);
  const path = join(folders.RESEARCH_CONFIG_DIR, "config.json");
  return {
    path,
    config: (argv: string, env: Record<string, string> = {}, input = "") =>
      inProcess(["config", ...argv.split(" ")], { env: { HOME: home, ...folders, ...env }, input }),
    stored: () => JSON.parse(readFileSync(path, "utf8")),
  };
}

test("set, get, unset and list of one profile", async () => {
  const { config, stored } = machine();
  expect(await config("set base-url https://a.example")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(await config("get base-url")).toMatchObject({ code: 0, stdout: "https://a.example\n" });
  await config("set tier pro");
  expect(stored()).toEqual({ profiles: { default: { "base-url": "https://a.example", tier: "pro" } } });
  expect((await config("list")).stdout.split("\n").slice(0, 4)).toEqual([
    "profile\tdefault\tdefault",
    "base-url\thttps://a.example\tprofile default",
    "api-key\t-\tnot set",
    "tier\tpro\tprofile default",
  ]);
  expect(JSON.parse((await config("list --json")).stdout)).toMatchObject({
    "api-key": null,
    tier: { value: "pro", source: "profile default" },
  });
  expect((await config("unset base-url")).code).toBe(0);
  expect(await config("get base-url")).toMatchObject({ code: 5, stderr: expect.stringContaining("not set") });
});

test.each([
  ["tier", "gold", "invalid value for tier: gold (free, pro or enterprise)"],
  ["history", "maybe", "invalid value for history: maybe (on or off)"],
  ["history", "off\non", "invalid value for history: off"],
  ["status-method", "get", "invalid value for status-method: get (an HTTP method in capitals, such as GET)"],
  ["output-method", "G ET", "invalid value for output-method"],
  ["output-path", "/out", "invalid value for output-path: /out (a path that begins with / and contains"],
  ["output-path", "x/{request_id}", "invalid value for output-path"],
  ["output-field", " ", "invalid value for output-field"],
  ["api-key", "two words", "invalid value for api-key (visible"],
  ["base-url", "ftp://x", "base URL"],
  ["set", '{"top_k":1,"stream":true}', '"stream" cannot be set at any provider: research sets it itself'],
  ["set", "webhook_url=https://a.example", '"webhook_url" cannot be set'],
  ["colour", "red", 'unknown setting "colour"'],
])("set %s %j is refused", async (key, value, message) => {
  const { env } = homeWith();
  const run = await inProcess(["config", "set", key, value], { env });
  expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
  expect(run.stderr).not.toContain("two words");
});

test("set set takes a field of the provider in force, and none that research sets there", async () => {
  const { config, stored } = machine();
  await config("set provider openai --profile work");
  expect(await config("set set input=x --profile work")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"input" cannot be set at OpenAI'),
  });
  expect((await config("set set temperature=0 --profile work")).code).toBe(0);
  expect(stored().profiles.work).toEqual({ provider: "openai", set: "temperature=0" });
});

test("a key is bound to the base URL in force with its profile", async () => {
  const { config, stored } = machine();
  await config("set base-url https://work.example/v --profile work");
  const env = { RESEARCH_BASE_URL: "https://env.example" };
  await config("set api-key --profile work", env, "work-key\n");
  await config("set api-key", env, "env-key\n");
  await config("set api-key --profile other --base-url https://flag.example", env, "flag-key\n");
  expect(stored().profiles).toEqual({
    work: {
      "base-url": "https://work.example/v",
      "api-key": "work-key",
      "api-key-origin": "https://work.example",
    },
    default: { "api-key": "env-key", "api-key-origin": "https://env.example" },
    other: { "api-key": "flag-key", "api-key-origin": "https://flag.example" },
  });
  await config("unset api-key --profile work");
  expect(stored().profiles.work).toEqual({ "base-url": "https://work.example/v" });
  expect(await config("set api-key --profile fourth", {}, "k")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("a key needs a base URL, and none is set"),
  });
});

test("a key on the command line works and warns", async () => {
  const { config, stored } = machine();
  const run = await config("set api-key sk-12345678 --base-url https://a.example");
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("a key on the command line") });
  expect(stored().profiles.default["api-key"]).toBe("sk-12345678");
  expect((await config("get api-key")).stdout).toBe("…5678\n");
});

test.each([
  ["1", 0, "insecure-http\ton\tRESEARCH_INSECURE_HTTP"],
  ["0", 2, "insecure-http\toff\tRESEARCH_INSECURE_HTTP"],
])("RESEARCH_INSECURE_HTTP=%s", async (value, code, line) => {
  const { config } = machine();
  const env = { RESEARCH_INSECURE_HTTP: value };
  expect((await config("set base-url http://far.example", env)).code).toBe(code);
  expect((await config("list", env)).stdout.split("\n")).toContain(line);
});

test("use makes a profile the one in use, and only one that exists", async () => {
  const { config, stored } = machine();
  await config("set tier pro --profile work");
  expect(await config("use nope")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("The profiles are work;"),
  });
  expect((await config("use work")).code).toBe(0);
  expect(stored().profile).toBe("work");
  expect((await config("get tier")).stdout).toBe("pro\n");
  expect((await config("get profile")).code).toBe(2);
});

test.each(["__proto__", "constructor", "a b", "-x", ""])("%j is no name for a profile", async (name) => {
  const { env } = homeWith({ RESEARCH_PROFILE: name });
  const run = await inProcess(["config", "set", "tier", "pro"], { env });
  expect(run.code).toBe(name === "" ? 0 : 2);
});

test("path says where the settings are, and with --json too", async () => {
  const { config, path } = machine();
  expect((await config("path")).stdout).toBe(`${path}\n`);
  expect(JSON.parse((await config("path --json")).stdout)).toEqual({ path });
  expect(JSON.parse((await config("list --json")).stdout)).toMatchObject({
    profile: { value: "default", source: "default" },
  });
});

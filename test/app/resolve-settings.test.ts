import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CodedError } from "../../src/app/errors.js";
import {
  maskKey,
  requireBaseUrl,
  requireConnection,
  resolveSettings,
  type SettingChoices,
} from "../../src/app/resolve-settings.js";
import type { GlobalFlags } from "../../src/cli/command-context.js";
import type { StoredSettings } from "../../src/client/store/settings-file.js";
import { folderWith } from "../support/folder.js";

const STORE: StoredSettings = {
  profile: "home",
  profiles: {
    home: {
      "base-url": "https://home.example",
      "api-key": "home-key",
      "api-key-origin": "https://home.example",
    },
    work: {
      ...{
        "base-url": "https://work.example/v",
        "api-key": "work-key",
        "api-key-origin": "https://work.example",
      },
      ...{ tier: "pro", history: "off", "status-method": "POST", "output-method": "PUT" },
      ...{ "output-path": "/o/{request_id}", "output-field": "answer" },
    },
    bare: { tier: "gold" },
  },
};
const EMPTY: StoredSettings = { profiles: {} };
const ALL = { RESEARCH_BASE_URL: "https://env.example", RESEARCH_API_KEY: "env-key" };

const resolve = (flags: SettingChoices, env: Record<string, string> = {}, store = STORE) =>
  resolveSettings(flags, env, store);

/** Which source won. */
function sources(...given: Parameters<typeof resolve>) {
  const { profile, baseUrl, apiKey } = resolve(...given);
  return [profile, baseUrl, apiKey].map((found) => `${found?.value} (${found?.source})`);
}

describe("flag, --profile, environment, profile in use, default:", () => {
  test.each<[string, GlobalFlags, Record<string, string>, StoredSettings, string[]]>([
    [
      "nothing is configured",
      {},
      {},
      EMPTY,
      ["default (default)", "undefined (undefined)", "undefined (undefined)"],
    ],
    [
      "the profile in use",
      {},
      {},
      STORE,
      ["home (config use)", "https://home.example (profile home)", "home-key (profile home)"],
    ],
    [
      "the environment beats the profile in use",
      {},
      ALL,
      STORE,
      ["home (config use)", "https://env.example (RESEARCH_BASE_URL)", "env-key (RESEARCH_API_KEY)"],
    ],
    [
      "--profile beats the environment",
      { profile: "work" },
      ALL,
      STORE,
      ["work (--profile)", "https://work.example/v (profile work)", "work-key (profile work)"],
    ],
    [
      "the environment fills what the named profile lacks",
      { profile: "bare" },
      ALL,
      STORE,
      ["bare (--profile)", "https://env.example (RESEARCH_BASE_URL)", "env-key (RESEARCH_API_KEY)"],
    ],
    [
      "RESEARCH_PROFILE beats `config use`",
      {},
      { RESEARCH_PROFILE: "work" },
      STORE,
      ["work (RESEARCH_PROFILE)", "https://work.example/v (profile work)", "work-key (profile work)"],
    ],
    [
      "RESEARCH_PROFILE is the environment: other variables beat its profile",
      {},
      { RESEARCH_PROFILE: "work", ...ALL },
      STORE,
      ["work (RESEARCH_PROFILE)", "https://env.example (RESEARCH_BASE_URL)", "env-key (RESEARCH_API_KEY)"],
    ],
    [
      "--profile beats RESEARCH_PROFILE",
      { profile: "home" },
      { RESEARCH_PROFILE: "work" },
      STORE,
      ["home (--profile)", "https://home.example (profile home)", "home-key (profile home)"],
    ],
    [
      "--base-url beats them all",
      { profile: "work", baseUrl: "https://flag.example" },
      ALL,
      STORE,
      ["work (--profile)", "https://flag.example (--base-url)", "work-key (profile work)"],
    ],
    [
      "an empty variable is an unset one",
      {},
      { RESEARCH_PROFILE: "", RESEARCH_BASE_URL: "", RESEARCH_API_KEY: "" },
      STORE,
      ["home (config use)", "https://home.example (profile home)", "home-key (profile home)"],
    ],
  ])("%s", (_, flags, env, store, expected) => {
    expect(sources(flags, env, store)).toEqual(expected);
  });

  test("a key file comes after the key, and before the profile in use", () => {
    const path = join(folderWith(), "key");
    writeFileSync(path, "\n file-key \n");
    const env = { RESEARCH_API_KEY_FILE: path };
    expect(resolve({}, env).apiKey).toEqual({
      ...{ value: "file-key", source: `RESEARCH_API_KEY_FILE (${path})`, boundTo: undefined },
    });
    expect(resolve({}, { ...env, RESEARCH_API_KEY: " env-key\n" }).apiKey?.value).toBe("env-key");
    expect(resolve({ profile: "work" }, env).apiKey?.value).toBe("work-key");
  });

  test("a key file that cannot be read is named as one", () => {
    const settings = resolve({}, { RESEARCH_API_KEY_FILE: folderWith() });
    expect(() => settings.apiKey).toThrow(/the key file/);
  });

  test("an empty text in a profile is no setting", () => {
    const store = { profiles: { a: { "base-url": "", "api-key": "", tier: "", history: "" } } };
    expect(resolve({ profile: "a" }, ALL, store)).toMatchObject({
      baseUrl: { value: "https://env.example" },
      apiKey: { value: "env-key" },
      tier: undefined,
      history: { source: "default" },
    });
  });

  test("what only a profile holds", () => {
    expect(resolve({ profile: "work" })).toMatchObject({
      tier: { value: "pro", source: "profile work" },
      history: { value: "off", source: "profile work" },
      gaps: {
        statusMethod: { value: "POST", source: "profile work" },
        outputMethod: { value: "PUT", source: "profile work" },
        outputPath: { value: "/o/{request_id}", source: "profile work" },
        outputField: { value: "answer", source: "profile work" },
      },
    });
    expect(resolve({ profile: "bare" })).toMatchObject({
      tier: undefined,
      history: { value: "on", source: "default" },
      gaps: {
        statusMethod: { value: "GET", source: "default" },
        outputPath: { value: "/api/v1/conversation/{request_id}/output", source: "default" },
        outputField: { value: "output", source: "default" },
      },
    });
  });
});

describe("a profile that does not exist", () => {
  test.each<[GlobalFlags, Record<string, string>, StoredSettings, string]>([
    [{ profile: "nope" }, {}, STORE, 'unknown profile "nope" (named by --profile)'],
    [{}, { RESEARCH_PROFILE: "nope" }, STORE, "(named by RESEARCH_PROFILE)"],
    [{}, {}, { profile: "gone", profiles: {} }, "(named by config use)"],
    [{ profile: "constructor" }, {}, STORE, 'unknown profile "constructor"'],
  ])("%j %j is an error", (flags, env, store, message) => {
    expect(() => resolve(flags, env, store)).toThrow(message);
  });

  test.each<[StoredSettings, string]>([
    [STORE, "The profiles are home, work, bare; `research login -p NAME` creates one."],
    [EMPTY, "There are no profiles yet; `research login -p NAME` creates one."],
  ])("the hint says which there are", (store, hint) => {
    expect(() => resolve({ profile: "nope" }, {}, store)).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ hint }) }),
    );
  });
});

test.each<[SettingChoices, Record<string, string>, string]>([
  [{ provider: "nope" }, {}, 'unknown provider "nope" (named by --provider)'],
  [{}, { RESEARCH_PROVIDER: "nope" }, 'unknown provider "nope" (named by RESEARCH_PROVIDER)'],
])("a provider that is not known, %j %j, is an error that names those that are", (flags, env, message) => {
  expect(() => resolve(flags, env)).toThrow(
    expect.objectContaining({
      message,
      facts: { hint: expect.stringMatching(/^The providers are: .*\bexa\b/) },
    }),
  );
});

describe("switches", () => {
  test.each([
    ["", "on", "default"],
    ["0", "on", "default"],
    ["1", "off", "RESEARCH_NO_HISTORY"],
  ])("RESEARCH_NO_HISTORY=%s", (value, history, source) => {
    expect(resolve({}, { RESEARCH_NO_HISTORY: value }).history).toEqual({ value: history, source });
  });

  test.each<[GlobalFlags, string, boolean, string]>([
    [{}, "", false, "default"],
    [{}, "no", false, "RESEARCH_INSECURE_HTTP"],
    [{}, "yes", true, "RESEARCH_INSECURE_HTTP"],
    [{ insecureHttp: true }, "0", true, "--insecure-http"],
  ])("%j RESEARCH_INSECURE_HTTP=%s", (flags, variable, value, source) => {
    const env = { RESEARCH_INSECURE_HTTP: variable, RESEARCH_BASE_URL: "http://far.example" };
    const settings = resolve(flags, env);
    expect(settings.insecureHttp).toEqual({ value, source });
    if (value) expect(requireBaseUrl(settings).origin).toBe("http://far.example");
    else expect(() => requireBaseUrl(settings)).toThrow(/plain http/);
  });

  test.each(["RESEARCH_NO_HISTORY", "RESEARCH_INSECURE_HTTP"])("an unusable %s is an error", (name) => {
    expect(() => resolve({}, { [name]: "maybe" })).toThrow(`invalid value for ${name}: "maybe"`);
  });
});

describe("the connection", () => {
  test("needs a base URL", () => {
    expect(() => requireConnection(resolve({}, {}, EMPTY))).toThrow(
      expect.objectContaining({
        ...{ code: "NOT_CONFIGURED", message: "no base URL is configured" },
        facts: {
          hint: "Run `research login openai` (or perplexity, exa, parallel, gemini, tavily), or pass --base-url URL for your own service. In CI, set a key and RESEARCH_PROVIDER, or RESEARCH_BASE_URL for your own service. `research try` needs no account.",
        },
      }),
    );
  });

  test("needs a key", () => {
    const settings = resolve({}, { RESEARCH_BASE_URL: "https://env.example" }, EMPTY);
    expect(() => requireConnection(settings)).toThrow(
      expect.objectContaining({
        ...{ code: "NOT_AUTHENTICATED", message: "no API key for https://env.example" },
        facts: {
          hint: "Set RESEARCH_API_KEY, name a file that holds it in RESEARCH_API_KEY_FILE, or run `research login`.",
        },
      }),
    );
  });

  test.each([
    [
      { RESEARCH_BASE_URL: "https://api.exa.ai" },
      /^This is Exa's own address: did you mean --provider exa\?/,
    ],
    [{ RESEARCH_PROVIDER: "exa" }, /^Set EXA_API_KEY or .* `research login exa`\.$/],
  ])("names the provider whose key is missing: %j", (env, hint) => {
    expect(() => requireConnection(resolve({}, env, EMPTY))).toThrow(
      expect.objectContaining({ facts: { hint: expect.stringMatching(hint) } }),
    );
  });

  test("a key of the environment goes to any base URL, a stored one to its own origin only", () => {
    expect(requireConnection(resolve({ profile: "work" }))).toEqual({
      ...{ baseUrl: "https://work.example/v", origin: "https://work.example", apiKey: "work-key" },
    });
    const key = { RESEARCH_API_KEY: "env-key" };
    expect(requireConnection(resolve({ baseUrl: "https://flag.example" }, key)).apiKey).toBe("env-key");
    expect(() => requireConnection(resolve({ baseUrl: "https://flag.example" }))).toThrow(
      expect.objectContaining({
        code: "NOT_AUTHENTICATED",
        message:
          "the stored key belongs to https://home.example and is not sent to https://flag.example (the base URL comes from --base-url)",
        facts: {
          hint: "Set RESEARCH_API_KEY or RESEARCH_API_KEY_FILE for https://flag.example, or run `research login --base-url https://flag.example -p NAME`.",
        },
      }),
    );
    const moved = { "base-url": "https://gateway.example/v1", "api-key": "k" };
    const gateway: StoredSettings = {
      profiles: {
        default: { ...moved, provider: "openai", "api-key-origin": "https://api.openai.com" },
      },
    };
    expect(() => requireConnection(resolve({}, {}, gateway))).toThrow(
      expect.objectContaining({
        facts: {
          hint: expect.stringContaining(
            "`research login openai --base-url https://gateway.example/v1 -p NAME`",
          ),
        },
      }),
    );
    const unbound: StoredSettings = {
      profiles: { default: { "base-url": "https://a.example", "api-key": "k" } },
    };
    expect(() => requireConnection(resolve({}, {}, unbound))).toThrow(/belongs to no origin/);
  });
});

describe("RESEARCH_API_KEY belongs to the origin of the variables beside it", () => {
  const store: StoredSettings = {
    profiles: {
      bare: { "base-url": "https://bare.example" },
      exa: { provider: "exa" },
    },
  };
  const KEY = { RESEARCH_API_KEY: "env-key" };
  const AT = { ...KEY, RESEARCH_BASE_URL: "https://bare.example/v1" };
  const keyOf = (choices: SettingChoices, env: Record<string, string>) => {
    try {
      return requireConnection(resolve(choices, env, store)).apiKey;
    } catch (error) {
      return error instanceof CodedError ? error.code : error;
    }
  };
  test.each<[string, SettingChoices, Record<string, string>, string]>([
    ["a profile that is named, and no such variable", { profile: "bare" }, KEY, "NOT_AUTHENTICATED"],
    ["a profile of that origin", { profile: "bare" }, AT, "env-key"],
    ["a profile of another origin", { profile: "exa" }, AT, "NOT_AUTHENTICATED"],
    ["a provider's profile", { profile: "exa" }, { ...KEY, RESEARCH_PROVIDER: "exa" }, "env-key"],
    ["its provider's own variable", { profile: "exa" }, { ...KEY, EXA_API_KEY: "exa-key" }, "exa-key"],
    ["another provider", { profile: "exa" }, { ...KEY, RESEARCH_PROVIDER: "openai" }, "NOT_AUTHENTICATED"],
    ["a flag's address of that origin", { baseUrl: "https://bare.example" }, AT, "env-key"],
    ["a flag's address elsewhere", { baseUrl: "https://flag.example" }, AT, "NOT_AUTHENTICATED"],
    ["a flag's address, and no such variable", { baseUrl: "https://flag.example" }, KEY, "env-key"],
    ["the key that a flag's profile was given", { profile: "bare", hasOwnKey: true }, KEY, "env-key"],
  ])("%s", (_, choices, env, key) => {
    expect(keyOf(choices, env)).toBe(key);
  });

  test("the message says whose key it is, and nothing of it", () => {
    expect(() => requireConnection(resolve({ profile: "exa" }, AT, store))).toThrow(
      "the key in RESEARCH_API_KEY belongs to https://bare.example and is not sent to https://api.exa.ai (the base URL comes from provider exa)",
    );
    expect(() => requireConnection(resolve({ profile: "bare" }, KEY, store))).toThrow(
      /belongs to what RESEARCH_BASE_URL or RESEARCH_PROVIDER names and is not sent to https:\/\/bare\.example/,
    );
  });
});

test.each([
  ["sk-0123456789abcd", "…abcd"],
  ["abcd1234", "…"],
  ["", "…"],
])("of the key %j no more is shown than %s", (key, shown) => {
  expect(maskKey(key)).toBe(shown);
});

describe("of a provider", () => {
  const EXA = { provider: "exa", model: "m", set: "a=1" };
  const store: StoredSettings = { profiles: { exa: EXA, plain: { ...EXA, provider: "research" } } };

  test.each<[string, GlobalFlags, Record<string, string>, [string?, string?]]>([
    ["a profile's model and options are taken", { profile: "exa" }, {}, ["m", "a=1"]],
    ["not by the interface", { profile: "plain" }, {}, []],
    ["not where a flag names the address", { profile: "exa", baseUrl: "https://x.example" }, {}, []],
  ])("%s", (_, flags, env, [model, set]) => {
    const settings = resolve(flags, env, store);
    expect([settings.model?.value, settings.set?.value]).toEqual([model, set]);
  });

  test.each<[string, SettingChoices, Record<string, string>, string | undefined]>([
    ["its provider", {}, {}, "stored"],
    ["its provider, named once more", { provider: "exa" }, {}, "stored"],
    ["another provider", { provider: "openai" }, {}, undefined],
    ["another provider of the environment", {}, { RESEARCH_PROVIDER: "openai" }, undefined],
    ["the interface at the same address", { baseUrl: "https://api.exa.ai" }, {}, undefined],
  ])("the stored key is for %s", (_, flags, env, key) => {
    const profile = { ...EXA, "api-key": "stored", "api-key-origin": "https://api.exa.ai" };
    const settings = resolveSettings(flags, env, { profile: "p", profiles: { p: profile } });
    expect(settings.apiKey?.value).toBe(key);
  });

  const OWN = { RESEARCH_PROVIDER: "exa", EXA_API_KEY: " k " };

  test.each<[string, Record<string, string>, string | undefined]>([
    ["the key of its own tools is used at its own address", OWN, "k"],
    ["and nowhere else", { ...OWN, RESEARCH_BASE_URL: "https://other.example" }, undefined],
    ["nor at what is no address", { ...OWN, RESEARCH_BASE_URL: "nonsense" }, undefined],
    ["nor by the interface", { EXA_API_KEY: "k", RESEARCH_BASE_URL: "https://api.exa.ai" }, undefined],
    ["a key of ours comes first", { ...OWN, RESEARCH_API_KEY: "ours" }, "ours"],
  ])("%s", (_, env, key) => {
    expect(resolve({}, env, EMPTY).apiKey?.value).toBe(key);
  });

  test("the hint names the variable of its own tools at its own address only", () => {
    const hintOf = (env: Record<string, string>) => {
      try {
        requireConnection(resolve({}, env, EMPTY));
      } catch (error) {
        return (error as { facts: { hint: string } }).facts.hint;
      }
      return "";
    };
    expect(hintOf({ RESEARCH_PROVIDER: "exa" })).toContain("Set EXA_API_KEY or RESEARCH_API_KEY,");
    const elsewhere = { RESEARCH_PROVIDER: "exa", RESEARCH_BASE_URL: "https://other.example" };
    expect(hintOf(elsewhere)).toContain("Set RESEARCH_API_KEY,");
  });
});

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AccountOptions, ProfileAccount } from "../../src/app/profile-account.js";
import { estimateCreateCost, listQuotas, readQuota } from "../../src/app/read-quota.js";
import { readStoredSettings } from "../../src/app/resolve-settings.js";
import { type HistoryEntry, hashApiKey } from "../../src/client/store/history/history-records.js";
import { systemClock } from "../../src/core/clock.js";
import { folderWith } from "../support/folder.js";

const SERVICE = { RESEARCH_BASE_URL: "https://one.example/v1", RESEARCH_API_KEY: "k-0123456789" };

/** An account with an empty home, or with these settings in it. */
function accountWith(env: object = SERVICE, more: Partial<AccountOptions> = {}, settings?: object) {
  const home = folderWith(settings && { "config/config.json": JSON.stringify(settings) });
  const folders = { RESEARCH_CONFIG_DIR: join(home, "config"), RESEARCH_STATE_DIR: join(home, "state") };
  const options = {
    env: { HOME: home, ...folders, ...env },
    platform: "linux",
    clock: systemClock,
    choices: {},
  } as const;
  return { home, account: new ProfileAccount({ ...options, ...more }) };
}

const EXA = { RESEARCH_PROVIDER: "exa", RESEARCH_API_KEY: "k-0123456789" };

const ASKED = {
  ...{ origin: "https://one.example", base_path: "/v1", profile: null },
  key_id: hashApiKey(SERVICE.RESEARCH_API_KEY),
};

describe("the account in use", () => {
  test("has a client of the service in force, made once, and says the settings before", async () => {
    const addresses: unknown[] = [];
    const { account } = accountWith(SERVICE, {
      onConnect: ({ baseUrl }) => void addresses.push(baseUrl?.value),
    });
    const { client } = account;
    expect(account.client).toBe(client);
    expect([client.origin, account.origin]).toEqual(["https://one.example", "https://one.example"]);
    expect(account.apiKey).toBe(SERVICE.RESEARCH_API_KEY);
    expect(addresses).toEqual([SERVICE.RESEARCH_BASE_URL]);
    await account.close();
  });

  test("reads its settings once, and once more when it is opened again", () => {
    const { account } = accountWith();
    expect(account.settings).toBe(account.settings);
    expect(account.reopen().settings).not.toBe(account.settings);
    const keyFile = { RESEARCH_API_KEY: "", RESEARCH_API_KEY_FILE: "/nowhere" };
    const unreadable = accountWith({ ...SERVICE, ...keyFile }).account;
    expect(() => unreadable.settings).toThrow("the key file /nowhere could not be read");
    expect(unreadable.reopen({ isInspected: true }).settings.baseUrl?.value).toBe(SERVICE.RESEARCH_BASE_URL);
  });

  test.each([
    [{}, undefined, null],
    [{ profile: "p" }, { profiles: { p: {} } }, "p"],
    [{}, { profile: "p", profiles: { p: {} } }, "p"],
  ])("names the profile that was chosen (%j, %j)", (choices, settings, name) => {
    expect(accountWith(SERVICE, { choices }, settings).account.profile).toBe(name);
  });

  test("keeps a history unless it is switched off", () => {
    const { account, home } = accountWith();
    expect([account.unrecorded, account.history?.list({ limit: 1, accepts: () => true })]).toEqual([
      false,
      [],
    ]);
    expect(account.history).toBe(account.history);
    const off = accountWith({ ...SERVICE, RESEARCH_NO_HISTORY: "1" }).account;
    expect([off.unrecorded, off.history]).toEqual([true, undefined]);
    expect(existsSync(join(home, "config"))).toBe(false);
  });

  test.each([
    ["the key in use", {}, { key_id: hashApiKey(SERVICE.RESEARCH_API_KEY) }, true],
    ["another key", {}, {}, false],
    ["another key, and was asked of this one", {}, { asked_of: ASKED }, true],
    ["another path", {}, { key_id: hashApiKey(SERVICE.RESEARCH_API_KEY), base_path: "/v2" }, false],
    ["another key than the profile's now", { RESEARCH_API_KEY: undefined }, { profile: "p" }, true],
    ["another profile", { RESEARCH_API_KEY: undefined }, { profile: "q" }, false],
    ["any account, where no address is known", { RESEARCH_BASE_URL: undefined }, { base_path: "/v2" }, true],
  ])("has made what was made with %s (%j, %j)", (_, env, more, isOwn) => {
    const key = { "api-key": "k-1", "api-key-origin": "https://one.example" };
    const { account } = accountWith({ ...SERVICE, ...env }, {}, { profile: "p", profiles: { p: key } });
    const entry = { origin: "https://one.example", base_path: "/v1", profile: "p", key_id: "other", ...more };
    expect(account.isOwn(entry as HistoryEntry)).toBe(isOwn);
  });

  test("speaks the interface, or the dialect of a provider", async () => {
    const { account } = accountWith();
    const provider = accountWith(EXA).account;
    expect([account.provider, provider.provider?.name]).toEqual([undefined, "exa"]);
    const paths = await Promise.all([account, provider].map(async ({ dialect }) => (await dialect()).create));
    expect(paths[0]).not.toEqual(paths[1]);
  });

  test("asks for a result where the settings say that it is", async () => {
    const profiles = { p: { "output-method": "POST", "output-path": "/results/{request_id}" } };
    const { account } = accountWith(SERVICE, {}, { profile: "p", profiles });
    const { request } = await account.dialect();
    expect(request("output", "r1")).toMatchObject({ method: "POST", path: "/results/r1" });
    expect(request("status", "r1")).toMatchObject({ method: "GET" });
  });

  test("says when it is closed how many records of its history could not be read, if any", async () => {
    const calls: unknown[] = [];
    const onNotice = async (...of: unknown[]) => void calls.push(of);
    const { account, home } = accountWith(SERVICE, { onNotice });
    account.history?.list({ limit: 1 });
    await account.close();
    expect(calls).toEqual([]);
    const state = join(home, "state");
    mkdirSync(state);
    writeFileSync(join(state, "history.jsonl"), "nonsense\n");
    account.history?.list({ limit: 1 });
    await account.close();
    expect(calls).toEqual([
      ["HISTORY_SKIPPED", `1 record in the history (${state}) could not be read and will be skipped`],
    ]);
  });

  test.each([
    [{}, undefined],
    [{ requestTimeout: 5 }, 5],
  ])("gives a client its time limit if one was chosen (%j)", (choices, expected) => {
    const { clientOptions } = accountWith(SERVICE, { choices }).account;
    expect(clientOptions.requestTimeout).toBe(expected);
    expect(Object.hasOwn(clientOptions, "requestTimeout")).toBe(expected !== undefined);
  });
});

describe("an account that is named by its profile", () => {
  const stored = (origin: string) => ({ "base-url": origin, "api-key": "k", "api-key-origin": origin });
  const profiles = {
    p: { ...stored("https://p.example"), "base-url": "https://p.example/x/", "output-field": "answer" },
    q: stored("https://q.example"),
    default: stored("https://d.example"),
    bare: { "base-url": "https://p.example/x" },
    same: { "base-url": "https://one.example" },
    empty: {},
  };
  const settings = { profile: "q", profiles };

  test.each<[string, object, object, object, string | undefined]>([
    ["made with another profile", {}, {}, {}, "p"],
    [
      "made before there were profiles",
      {},
      {},
      { origin: "https://d.example", base_path: "", profile: null },
      "default",
    ],
    ["made where the profile is no more", {}, {}, { origin: "https://old.example" }, undefined],
    ["made with a profile without a key", {}, {}, { profile: "bare" }, undefined],
    ["made by the account in use", {}, {}, { origin: "https://q.example", profile: "q" }, undefined],
    ["asked for with --profile", {}, { profile: "q" }, {}, undefined],
    ["asked for with --base-url", {}, { baseUrl: "https://q.example" }, {}, undefined],
    ["asked for with --provider", {}, { provider: "exa" }, {}, undefined],
    ["asked for with RESEARCH_PROFILE", { RESEARCH_PROFILE: "q" }, {}, {}, undefined],
    ["asked for with RESEARCH_BASE_URL", { RESEARCH_BASE_URL: "https://q.example" }, {}, {}, undefined],
  ])("is asked for what was %s, or not", (_, env, choices, made, profile) => {
    const notices: string[] = [];
    const onNotice = (code: string, text: string) => code === "OTHER_ACCOUNT" && notices.push(text);
    const { account: current } = accountWith(env, { choices, onNotice }, settings);
    const p = { origin: "https://p.example", base_path: "/x", profile: "p", key_id: "" };
    const entry = { ...p, ...made } as HistoryEntry;
    const account = current.findAccount(entry);
    expect(account?.profile).toBe(profile);
    expect(current.findAccount(entry)).toBe(account);
    const text = `using profile ${profile} at ${entry.origin}, which created it`;
    expect(notices).toEqual(profile ? [text] : []);
  });

  test("takes nothing of the environment, and all that have no key are one error", () => {
    const keyFile = join(folderWith({ key: "k-1" }), "key");
    const ofProvider = { RESEARCH_PROVIDER: "exa", RESEARCH_API_KEY_FILE: keyFile };
    const others = { ...ofProvider, RESEARCH_BASE_URL: "https://one.example" };
    for (const env of [SERVICE, ofProvider, others]) {
      const { account: current } = accountWith(env, {}, settings);
      const [account] = current.openNamed(["p"], "-p");
      const facts = { origin: "https://p.example", basePath: "/x", apiKey: "k", outputField: "answer" };
      expect(account).toMatchObject({ ...facts, profile: "p" });
      expect(current.openNamed(["p"], "-p")[0]).toBe(account);
      expect(() => current.openNamed(["empty"], "-p")).toThrow("no base URL is configured");
      expect(() => current.openNamed(["p", "bare", "same"], "-p")).toThrow(
        expect.objectContaining({
          code: "NOT_AUTHENTICATED",
          message:
            "no usable API key: profile bare (no API key for https://p.example); profile same (no API key for https://one.example)",
          facts: { hint: expect.stringContaining("`research login -p PROFILE` to store a key") },
        }),
      );
    }
  });
});

describe("creates per hour:", () => {
  const STORED = { profile: "p", profiles: { p: { tier: "pro" } } };

  test("a number beats a tier, and a flag the settings", () => {
    const { account } = accountWith(SERVICE, {}, STORED);
    expect(account.getHourlyLimit({})).toBe(100);
    expect(account.getHourlyLimit({ tier: "free" })).toBe(10);
    expect(account.getHourlyLimit({ tier: "free", perHour: 3 })).toBe(3);
    expect(account.getHourlyLimit({ tier: "enterprise" })).toBe(Number.POSITIVE_INFINITY);
    expect(accountWith().account.getHourlyLimit({})).toBeUndefined();
  });

  test("a provider has a number, and no tiers", () => {
    const { account } = accountWith(EXA, {}, STORED);
    expect([account.getHourlyLimit({}), account.getHourlyLimit({ perHour: 3 })]).toEqual([undefined, 3]);
    expect(() => account.getHourlyLimit({ tier: "free" })).toThrow(
      expect.objectContaining({
        message: "Exa has no tiers",
        facts: { hint: expect.stringContaining("--per-hour N sets a limit") },
      }),
    );
  });

  test("the hour, with and without a limit", () => {
    const { account } = accountWith(SERVICE, { clock: { ...systemClock, now: () => 5_000 } });
    const common = {
      ...{ used: 0, origin: "https://one.example", profile: "default" },
      counted_from: "this machine's own records",
    };
    const limited = readQuota(account, { perHour: 3 });
    const next_slot_at = "1970-01-01T00:00:05.000Z";
    expect(limited).toMatchObject({ ...common, limit: 3, left: 3, next_slot_at });
    const free = readQuota(account, {});
    expect(free).toMatchObject({ ...common, limit: null, left: null, next_slot_at: null });
    const off = accountWith({ ...SERVICE, RESEARCH_NO_HISTORY: "1" }).account;
    expect(() => readQuota(off, {})).toThrow("the history is off on this machine");
  });
});

/** Has this machine's history say that a request was created by `account`, and has ended with these costs. */
function recorded(
  account: Pick<ProfileAccount, "history" | "origin" | "profile" | "apiKey">,
  costs: readonly (number | undefined)[],
  model = "m",
  apiKey = account.apiKey,
) {
  const { history = expect.fail("no history"), origin, profile } = account;
  for (const [index, cost_dollars] of costs.entries()) {
    const id = `${model}-${apiKey}-${index}`;
    history.begin({ origin, profile, apiKey, body: { prompt: "p", model } }).recordCreated(id, {});
    for (const entry of history.find(id)) history.observe(entry, "COMPLETED", { cost_dollars });
  }
}

describe("creates per day:", () => {
  test.each([
    ["nothing", {}, undefined, undefined],
    ["the flag alone", {}, 3, { value: 3, source: "--per-day" }],
    ["the smaller one, the flag", { RESEARCH_PER_DAY: "10" }, 9, { value: 9, source: "--per-day" }],
    [
      "the smaller one, the variable",
      { RESEARCH_PER_DAY: "9" },
      10,
      { value: 9, source: "RESEARCH_PER_DAY" },
    ],
  ])("%s", (_, env, perDay, expected) => {
    const { account } = accountWith({ ...SERVICE, ...env });
    account.limitDay(perDay === undefined ? {} : { perDay });
    expect(account.perDay).toEqual(expected);
  });

  test("no limit is not a number", () => {
    const { account } = accountWith({ ...SERVICE, RESEARCH_PER_DAY: "0" });
    expect(() => account.perDay).toThrow('invalid value for per-day: "0" (from RESEARCH_PER_DAY)');
    const stored = accountWith(SERVICE, {}, { profile: "p", profiles: { p: { "per-day": "x" } } }).account;
    expect(() => stored.perDay).toThrow(
      expect.objectContaining({
        message: 'invalid value for per-day: "x" (from profile p)',
        facts: { hint: expect.stringMatching(/^The value must be a whole number, 1 or more/) },
      }),
    );
  });
});

describe("the quota", () => {
  test("of an account: its day if that is limited, and what it spent", () => {
    const { account } = accountWith();
    recorded(account, [0.5, 0.25]);
    recorded(account, [8], "m", "another-key");
    const spent = ["24h", "7d", "30d"].map((since) => ({
      ...{ since, requests: 2, running: 0, unsaid: 0, dollars: 0.75, tokens: null },
    }));
    expect(readQuota(account, {})).toMatchObject({ used: 2, limit: null, day: null, spent });
    account.limitDay({ perDay: 5 });
    expect(readQuota(account, {}).day).toMatchObject({ used: 2, left: 3, limit: 5 });
  });

  test("of every key that the history has, the one in use with its limits", () => {
    const { account } = accountWith({ ...SERVICE, RESEARCH_PER_DAY: "5" });
    recorded(account, [1, 2]);
    recorded(account, [4], "m", "another-key");
    expect(listQuotas(account)).toMatchObject([
      { used: 1, day: null, profile: "default", spent: [{ dollars: 4 }, {}, {}] },
      { used: 2, day: { used: 2, left: 3 }, spent: [{ dollars: 3 }, {}, {}] },
    ]);
    const off = accountWith({ ...SERVICE, RESEARCH_NO_HISTORY: "1" }).account;
    expect(() => listQuotas(off)).toThrow("the history is off on this machine");
  });

  test("of what comes: the median of the last costs with the same model, if there are ten", () => {
    const { account } = accountWith();
    const asked = (model: string) => ({ account, model });
    recorded(account, [9, 1, 1, 1, 2, 3, 4, 4, 4, undefined], "a");
    const { history } = account;
    recorded({ history, origin: "https://two.example", profile: null, apiKey: "other" }, [9], "a");
    expect(estimateCreateCost([asked("a")])).toBe("");
    const off = accountWith({ ...SERVICE, RESEARCH_NO_HISTORY: "1" }).account;
    expect(estimateCreateCost([{ account: off, model: "a" }])).toBe("");
    recorded(account, [9], "a", "another-key");
    recorded(account, [7, 7, 7, 7, 7, 7, 7, 7, 7, 7], "b");
    expect(estimateCreateCost([asked("a"), asked("a")])).toBe(
      "about $7.00: 2 rows at the median of your last 10 with this model\n",
    );
    expect(estimateCreateCost([asked("b"), asked("a")])).toBe(
      "about $7.00: 1 row at the median of your last 10 with this model (b)\n" +
        "about $3.50: 1 row at the median of your last 10 with this model (a)\n",
    );
  });
});

describe("completion reads", () => {
  const profiles = {
    p: { "base-url": "https://p.example/x" },
    exa: { provider: "exa", history: "off" },
    bad: { "base-url": "nonsense" },
  };
  const stored = (env: object, choices = {}, settings: object | undefined = { profile: "p", profiles }) => {
    const { account } = accountWith(env, {}, settings);
    return readStoredSettings(account.folders.config, { ...env }, choices);
  };

  test.each<[string, object, object, string | undefined, boolean]>([
    ["the profile in use", {}, {}, "https://p.example", true],
    ["the environment", SERVICE, {}, "https://one.example", true],
    ["a profile that is named", SERVICE, { profile: "exa" }, "https://api.exa.ai", false],
    ["an address that is none", {}, { profile: "bad" }, undefined, true],
    ["a profile that there is not", {}, { profile: "toString" }, undefined, true],
    ["a history that is off", { RESEARCH_NO_HISTORY: "yes" }, {}, "https://p.example", false],
    ["a history that is on", { RESEARCH_NO_HISTORY: "no1yes" }, {}, "https://p.example", true],
    ["a history that is on", { RESEARCH_NO_HISTORY: "yes1no" }, {}, "https://p.example", true],
  ])("%s", (_, env, choices, origin, keepsHistory) => {
    expect(stored(env, choices)).toEqual({ profiles: ["p", "exa", "bad"], origin, keepsHistory });
  });

  test("nothing where the settings are unusable", () => {
    const folder = folderWith({ "config.json": "{" });
    expect(readStoredSettings(folder, {}, {})).toEqual({
      profiles: [],
      origin: undefined,
      keepsHistory: true,
    });
  });
});

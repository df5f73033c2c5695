import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProfileAccount } from "../../src/app/profile-account.js";
import { systemClock } from "../../src/core/clock.js";
import { ToolSession, type ToolSessionOptions } from "../../src/mcp/tool-session.js";
import { folderWith } from "../support/folder.js";

const KEY = "k-0123456789";

/** A session on a machine whose settings can be changed meanwhile. */
function sessionWith(options: ToolSessionOptions = {}) {
  const home = folderWith({ "config/config.json": "{}" });
  const env = { RESEARCH_CONFIG_DIR: join(home, "config"), RESEARCH_STATE_DIR: join(home, "state") };
  const account = new ProfileAccount({ env, platform: "linux", clock: systemClock, choices: {} });
  const store = (baseUrl?: string, key?: string) => {
    const profile = { "base-url": baseUrl, "api-key": key, "api-key-origin": baseUrl, tier: "free" };
    const settings = { profile: "p", profiles: { p: profile } };
    writeFileSync(join(home, "config/config.json"), JSON.stringify(settings), { mode: 0o600 });
  };
  return { session: new ToolSession(account, options), store };
}

describe("a session", () => {
  test("reads the settings again until there are a base URL and a key, and keeps those", () => {
    const { session, store } = sessionWith();
    expect(() => session.requireConnected()).toThrow(expect.objectContaining({ code: "NOT_CONFIGURED" }));
    store("https://one.example");
    expect(session.current.origin).toBe("https://one.example");
    expect(() => session.requireConnected()).toThrow(expect.objectContaining({ code: "NOT_AUTHENTICATED" }));
    store("https://two.example", KEY);
    const connected = session.requireConnected();
    expect(connected.origin).toBe("https://two.example");
    store("https://three.example", KEY);
    expect(session.requireConnected()).toBe(connected);
    expect(session.current).toBe(connected);
  });

  test("has the limit of its flags, else of the settings", () => {
    const [own, stored] = [sessionWith({ perHour: 3 }), sessionWith()];
    for (const { store } of [own, stored]) store("https://one.example", KEY);
    expect([own.session.limit(), stored.session.limit()]).toEqual([3, 10]);
    expect(own.session.readQuota()).toMatchObject({
      day: null,
      spent: [{ since: "24h", requests: 0 }, {}, {}],
    });
    expect([own.session.readQuota(), stored.session.readQuota()]).toMatchObject([{ left: 3 }, { left: 10 }]);
  });

  test("ends what is under way with the reason, also if it was never connected", async () => {
    const { session } = sessionWith();
    expect(session.ending.aborted).toBe(false);
    const reason = new Error("the end");
    await session.close(reason);
    expect(session.ending.reason).toBe(reason);
  });
});

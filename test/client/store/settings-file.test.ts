import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { InvalidSettingsError, SettingsFile } from "../../../src/client/store/settings-file.js";
import { acquireLock, LockHeldError } from "../../../src/core/files/file-lock.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { folderWith } from "../../support/folder.js";

function world(text?: string) {
  const folder = join(folderWith(), "config");
  const path = join(folder, "config.json");
  const notices: string[] = [];
  if (text !== undefined) {
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
  return { folder, path, notices, settings: new SettingsFile(folder, (notice) => notices.push(notice)) };
}

describe("what is read", () => {
  test.each([undefined, "{}"])("is empty for %j", (text) => {
    expect(world(text).settings.read()).toEqual({ profiles: {} });
    expect(new SettingsFile(undefined, () => {}).read()).toEqual({ profiles: {} });
  });

  test("keeps what a later version may add", () => {
    const stored = { later: 1, profile: "a", profiles: { a: { tier: "pro", later: { x: 1 } } } };
    expect(world(JSON.stringify(stored)).settings.read()).toEqual(stored);
  });

  test.each([
    ["{", "are not valid JSON"],
    ["", "are not valid JSON"],
    ["[]", "invalid at the top level"],
    ["7", "invalid at the top level"],
    ["null", "invalid at the top level"],
    ['{"profile":1}', "invalid at profile"],
    ['{"profiles":[]}', "invalid at profiles"],
    ['{"profiles":{"a":[]}}', "invalid at profiles.a"],
    ['{"profiles":{"a":{"api-key":7}}}', "invalid at profiles.a.api-key"],
  ])("%j is an error that names the place and what to do", (text, message) => {
    const { settings, path } = world(text);
    expect(() => settings.read()).toThrow(LocalError);
    expect(() => settings.read()).toThrow(message);
    expect(() => settings.read()).toThrow(path);
    expect(() => settings.read()).toThrow(InvalidSettingsError);
  });

  test("is in the error of invalid JSON, and not in its message", () => {
    const { settings } = world('{"api-key": "secret" ');
    expect(() => settings.read()).toThrow(expect.objectContaining({ text: '{"api-key": "secret" ' }));
    expect(() => settings.read()).not.toThrow(/secret/);
    expect(() => settings.read()).toThrow(InvalidSettingsError);
  });

  test("is an error that names the path if it is no regular file", () => {
    const { settings, path } = world("{}");
    rmSync(path);
    mkdirSync(path);
    expect(() => settings.read()).toThrow(
      expect.objectContaining({
        ...{ name: "LocalError", cause: expect.any(Error) },
        message: `could not read ${path}: ${path} cannot be used: it is not a regular file`,
      }),
    );
  });

  test("is made private, with a notice", () => {
    const { settings, path, notices } = world("{}");
    chmodSync(path, 0o644);
    settings.read();
    settings.read();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(notices).toEqual([expect.stringContaining(`${path} could be read by others`)]);
  });
});

describe("a change", () => {
  test("is written whole and private, over what is there", async () => {
    const { settings, folder, path } = world('{"later":1}');
    writeFileSync(`${path}.draft-left`, "a key");
    mkdirSync(`${path}.draft-gone`);
    writeFileSync(join(`${path}.draft-gone`, "config.json"), "a key");
    await settings.update((stored) => {
      stored.profile = "a";
    });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ later: 1, profile: "a", profiles: {} });
    expect(readdirSync(folder)).toEqual(["config.json"]);
    expect([statSync(folder).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("is one of many at once, and none is lost", async () => {
    const { settings, folder } = world();
    const names = Array.from({ length: 8 }, (_, i) => `p${i}`);
    await Promise.all(
      names.map((name) =>
        new SettingsFile(folder, () => {}).update((stored) => {
          stored.profiles[name] = {};
        }),
      ),
    );
    expect(Object.keys(settings.read().profiles).sort()).toEqual(names);
  });

  test("that fails leaves the settings as they were", async () => {
    const { settings, path } = world('{"profile":"a"}');
    const failing = settings.update(() => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow(
      expect.objectContaining({
        message: `could not write ${path}: no; the settings are as they were`,
        cause: expect.objectContaining({ message: "no" }),
      }),
    );
    expect(readFileSync(path, "utf8")).toBe('{"profile":"a"}');
    await settings.update(() => {});
  });

  test("needs a folder, readable settings and the lock", async () => {
    await expect(new SettingsFile(undefined, () => {}).update(() => {})).rejects.toThrow(
      /set HOME or RESEARCH_CONFIG_DIR/,
    );
    await expect(world("{").settings.update(() => {})).rejects.toThrow(InvalidSettingsError);
    await expect(new SettingsFile("/proc/x", () => {}).update(() => {})).rejects.toThrow(
      expect.objectContaining({
        ...{ name: "LocalError", cause: expect.any(Error) },
        message: expect.stringMatching(
          /^could not write \/proc\/x\/config\.json: no such file or folder \(ENOENT\); the settings are as/,
        ),
      }),
    );
    const { settings, path } = world("{}");
    const release = await acquireLock(`${path}.lock`);
    await expect(settings.update(() => {})).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          new RegExp(
            `^could not write .*config\\.json\\.lock is held by process ${process.pid}; the settings are`,
          ),
        ),
        cause: expect.any(LockHeldError),
      }),
    );
    release();
  });
});

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AppendLog } from "../../../src/client/store/history/append-log.js";
import { CreateRecorder } from "../../../src/client/store/history/create-recorder.js";
import { buildIntent } from "../../../src/client/store/history/history-records.js";
import { OpenIntents } from "../../../src/client/store/history/open-intents.js";
import { SettingsFile } from "../../../src/client/store/settings-file.js";
import {
  appendLine,
  overwriteBytes,
  replaceFile,
  UnsyncedError,
} from "../../../src/core/files/file-access.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { folderWith } from "../../support/folder.js";
import { isTraceable, NEEDS_TRACING, ownCalls } from "../../support/own-calls.js";

const FSYNC = { calls: "fsync" };

function file(text?: string) {
  const folder = folderWith();
  const path = join(folder, "file");
  if (text !== undefined) writeFileSync(path, text);
  return { folder, path };
}

describe.skipIf(!isTraceable)(`what is written is on the disk (${NEEDS_TRACING}):`, () => {
  test("a file that is replaced, before it takes its place, and then its folder", async () => {
    const { folder, path } = file();
    expect(await ownCalls(FSYNC, () => replaceFile(path, "text"))).toEqual([
      `fsync ${path}.${process.pid}.draft`,
      `fsync ${folder}`,
    ]);
  });

  test("bytes that are overwritten", async () => {
    const { path } = file("text");
    expect(await ownCalls(FSYNC, () => overwriteBytes(path, 1, "E"))).toEqual([`fsync ${path}`]);
  });

  test("a line that is appended, if that is asked for, and the folder of a new file", async () => {
    const { folder, path } = file();
    const append = (sync: boolean) => ownCalls(FSYNC, () => appendLine(path, "line", { sync }));
    expect(await append(true)).toEqual([`fsync ${path}`, `fsync ${folder}`]);
    expect(await append(true)).toEqual([`fsync ${path}`]);
    expect(await append(false)).toEqual([]);
    expect(await ownCalls(FSYNC, () => appendLine(file().path, "line", { sync: false }))).toEqual([]);
  });

  test("the outcome of a create, but for one that was refused", async () => {
    const folder = folderWith();
    const path = join(folder, "history.jsonl");
    writeFileSync(path, "");
    const open = new OpenIntents(join(folder, "open"));
    const create = () => {
      const attempt = { origin: "o", profile: null, apiKey: "k", body: { prompt: "p" } };
      const intent = buildIntent(attempt, "2030-01-01T00:00:00.000Z");
      open.add(intent);
      return new CreateRecorder(
        intent,
        open,
        new AppendLog(path),
        () => {},
        () => "t",
      );
    };
    const calls = (act: (one: CreateRecorder) => void) => {
      const recorded = create();
      return ownCalls({ ...FSYNC, path }, () => act(recorded));
    };
    expect(await calls((one) => one.recordCreated("id-1", {}))).toEqual([`fsync ${path}`]);
    expect(await calls((one) => one.recordNotCreated())).toEqual([`fsync ${path}`]);
    expect(await calls((one) => one.recordDismissed("X"))).toEqual([]);
  });
});

describe.skipIf(!isTraceable)(`modes (${NEEDS_TRACING}):`, () => {
  test("only a new file that lines are appended to is made private", async () => {
    const { path } = file();
    const append = () => ownCalls({ calls: "fchmod" }, () => appendLine(path, "line", { sync: false }));
    expect([await append(), await append()]).toEqual([[`fchmod ${path}`], []]);
  });

  test("settings that others can read and that cannot be made private are read, without a notice", async () => {
    const folder = folderWith();
    const path = join(folder, "config.json");
    writeFileSync(path, '{"profile":"a"}');
    chmodSync(path, 0o644);
    const notices: string[] = [];
    const settings = new SettingsFile(folder, (notice) => notices.push(notice));
    const fault = { calls: "chmod,fchmodat", fault: "error=EPERM" };
    await ownCalls(fault, () => expect(settings.read().profile).toBe("a"));
    expect([notices, statSync(path).mode & 0o777]).toEqual([[], 0o644]);
  });
});

describe.skipIf(!isTraceable)(`a sync that fails (${NEEDS_TRACING}):`, () => {
  test.each(["EINVAL", "EOPNOTSUPP", "ENOSYS", "EBADF", "EISDIR", "EACCES", "EPERM"])(
    "of a folder with %s is a file system that does not sync folders",
    async (code) => {
      const { folder, path } = file();
      await ownCalls({ ...FSYNC, fault: `error=${code}`, path: folder }, () => replaceFile(path, "text"));
      expect(readFileSync(path, "utf8")).toBe("text");
    },
  );

  test("of a folder for another reason is an error, and the new text is in place", async () => {
    const { folder, path } = file("old");
    await ownCalls({ ...FSYNC, fault: "error=EIO", path: folder }, () => {
      expect(() => replaceFile(path, "text")).toThrow(UnsyncedError);
      expect(() => replaceFile(path, "text")).toThrow(
        expect.objectContaining({
          ...{ name: "UnsyncedError", message: expect.stringContaining("EIO") },
          cause: expect.objectContaining({ code: "EIO" }),
        }),
      );
    });
    expect(readFileSync(path, "utf8")).toBe("text");
  });

  test("of a file is an error, and the old text stands without a draft", async () => {
    const { folder, path } = file("old");
    await ownCalls({ ...FSYNC, fault: "error=EIO" }, () => {
      expect(() => replaceFile(path, "text")).toThrow(/EIO/);
      expect(() => replaceFile(path, "text")).not.toThrow(UnsyncedError);
    });
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["old", ["file"]]);
  });

  test("of the folder of the settings is an error that says that they are changed", async () => {
    const folder = join(folderWith(), "config");
    mkdirSync(folder);
    const settings = new SettingsFile(folder, undefined);
    await ownCalls({ ...FSYNC, fault: "error=EIO", path: folder }, async () => {
      const updating = settings.update((stored) => {
        stored.profile = "a";
      });
      await expect(updating).rejects.toThrow(LocalError);
      await expect(settings.update(() => {})).rejects.toThrow(
        /could not write .*EIO.*; the settings are changed, but may not outlast a crash$/,
      );
    });
    expect(settings.read()).toEqual({ profile: "a", profiles: {} });
  });
});

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { AppendLog, isUnreadableHistory } from "../../../../src/client/store/history/append-log.js";
import type { HistoryLine } from "../../../../src/client/store/history/history-records.js";
import { LocalError } from "../../../../src/core/files/local-error.js";
import { folderWith } from "../../../support/folder.js";

const line = (kind: "dismissed" | "redated", name: string): HistoryLine =>
  kind === "dismissed"
    ? { kind, local_id: name, origin: "o", key_id: "", at: "t", code: "NO" }
    : { kind, local_id: name, origin: "o", key_id: "", at: "t" };

let path: string;
let log: AppendLog;
beforeEach(() => {
  path = join(folderWith(), "below", "history.jsonl");
  log = new AppendLog(path);
});

const namesOf = (log: AppendLog, needle?: string) =>
  [...log.readLines(needle)].map((one) => ("local_id" in one ? one.local_id : one.kind));

test("lines come back from the newest to the oldest, with a needle only those that contain it", () => {
  expect(namesOf(log)).toEqual([]);
  log.append(line("dismissed", "local-1"), { sync: true });
  log.append(line("dismissed", "local-2"), { sync: false });
  expect(namesOf(log)).toEqual(["local-2", "local-1"]);
  expect(namesOf(log, '"local-1"')).toEqual(["local-1"]);
  expect(log.skipped).toBe(0);
});

test("torn lines are counted, lines of other kinds are not, and neither hides a line", () => {
  log.append(line("dismissed", "local-1"), { sync: false });
  appendFileSync(path, '{"kind":"later"}\n{"kind":"dismis');
  log.append(line("dismissed", "local-2"), { sync: false });
  expect(namesOf(log)).toEqual(["local-2", "local-1"]);
  expect(log.skipped).toBe(1);
});

test("a create is in the log if it was made or settled, not if it was only dated anew", () => {
  log.append(line("dismissed", "local-1"), { sync: false });
  log.append(line("redated", "local-2"), { sync: false });
  log.append(
    { kind: "status", request_id: "local-3", origin: "o", status: "PENDING", at: "t" },
    { sync: false },
  );
  log.append({ ...line("dismissed", "local-4"), code: "local-5" } as HistoryLine, { sync: false });
  const names = ["local-1", "local-2", "local-3", "local-4", "local-5", "local"];
  expect(names.filter((name) => log.has(name))).toEqual(["local-1", "local-4"]);
});

test("what cannot be read is an error, unless it is closed to us", () => {
  log.append(line("dismissed", "local-1"), { sync: false });
  const broken = new AppendLog(join(path, ".."));
  expect(() => namesOf(broken)).toThrow(LocalError);
  expect(() => broken.has("local-1")).toThrow(LocalError);
  expect(() => namesOf(broken)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^could not read \S+\/below: .*not a regular file$/),
      cause: expect.any(Error),
    }),
  );
  expect(namesOf(new AppendLog(join(path, "below")))).toEqual([]);
  const codes = ["EACCES", "EPERM", "ENOTDIR", "EIO", "ENOENT"];
  expect(codes.filter((code) => isUnreadableHistory(Object.assign(new Error(), { code })))).toEqual(
    codes.slice(0, 3),
  );
});

test("a line over 16 MiB is cut off and counted, and hides no other", () => {
  log.append(line("dismissed", "local-1"), { sync: false });
  appendFileSync(
    path,
    `${JSON.stringify({ ...line("dismissed", "local-2"), code: "x".repeat(17 << 20) })}\n`,
  );
  log.append(line("dismissed", "local-3"), { sync: false });
  expect(namesOf(log)).toEqual(["local-3", "local-1"]);
  expect(log.skipped).toBe(1);
});

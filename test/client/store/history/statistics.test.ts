import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AppendLog } from "../../../../src/client/store/history/append-log.js";
import { History } from "../../../../src/client/store/history/history.js";
import { type HistoryLine, hashApiKey } from "../../../../src/client/store/history/history-records.js";
import type { OpenIntent } from "../../../../src/client/store/history/open-intents.js";
import { listCountedAttempts } from "../../../../src/client/store/history/window-usage.js";
import { folderWith } from "../../../support/folder.js";

const ORIGIN = "https://a.example";
const NOW = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;
const at = (ms: number) => new Date(NOW + ms).toISOString();

function logOf(...lines: HistoryLine[]): AppendLog {
  return logIn(folderWith(), lines);
}

function logIn(folder: string, lines: readonly HistoryLine[]): AppendLog {
  const log = new AppendLog(join(folder, "history.jsonl"));
  for (const line of lines) log.append(line, { sync: false });
  return log;
}

const base = (name: string, ms: number) => ({
  ...{ local_id: `local-${name}`, origin: ORIGIN, key_id: hashApiKey("k"), at: at(ms) },
});
const created = (name: string, ms: number, other = {}): HistoryLine => ({
  ...{ kind: "created", ...base(name, ms), request_id: name, status: "PENDING", created_at: null },
  ...{ sent_at: at(ms), profile: null, prompt: "", structured_output: false, output_schema: null },
  ...other,
});
const dismissed = (name: string, ms: number, code: string): HistoryLine => ({
  kind: "dismissed",
  code,
  ...base(name, ms),
});
const seen = (name: string, ms: number, duration?: number, origin = ORIGIN): HistoryLine => ({
  ...{ kind: "status", request_id: name, origin, status: "COMPLETED", at: at(ms) },
  ...(duration !== undefined && { duration_ms: duration }),
});
const open = (name: string, ms: number): OpenIntent => ({
  intent: {
    ...{ kind: "intent", local_id: `local-${name}`, sent_at: at(ms), origin: ORIGIN, profile: null },
    ...{ key_id: hashApiKey("k"), prompt: "", structured_output: false, output_schema: null },
  },
  outcome: undefined,
});

/** Which creates count, and when before now (ms). */
function counted(log: AppendLog, opened: OpenIntent[] = []) {
  const window = { since: NOW - HOUR, now: NOW, isMade: false };
  const attempts = listCountedAttempts(log, opened, { origin: ORIGIN, key_id: hashApiKey("k"), ...window });
  return Object.fromEntries(
    attempts.map(({ localId, at, isAhead }) => [localId.slice(6), [at - NOW, isAhead]]),
  );
}

describe("the creates that count in the hour", () => {
  test("are those that were made, refused or are unknown, of this origin and key", () => {
    const log = logOf(
      created("old", -HOUR - 1),
      created("edge", -HOUR),
      created("made", -3_000),
      created("else", -3_000, { origin: "https://b.example" }),
      created("key", -3_000, { key_id: hashApiKey("other") }),
      seen("made", -2_500),
      dismissed("refused", -2_000, "VALIDATION_ERROR"),
      dismissed("never", -1_000, "RESOLVED"),
    );
    expect(counted(log, [open("lost", -500), open("long-ago", -2 * HOUR)])).toEqual({
      ...{ edge: [-HOUR, false], made: [-3_000, false], refused: [-2_000, false], lost: [-500, false] },
    });
  });

  test("count as of now if they are dated ahead of the clock", () => {
    const log = logOf(created("ahead", 365 * 24 * HOUR), created("before", -1_000));
    expect(counted(log, [open("lost", HOUR)])).toEqual({
      ...{ ahead: [0, true], before: [-1_000, false], lost: [0, true] },
    });
  });

  test("count as of the time at which that was noticed", () => {
    const log = logOf(created("ahead", 365 * 24 * HOUR), { kind: "redated", ...base("ahead", -5_000) });
    expect(counted(log)).toEqual({ ahead: [-5_000, false] });
  });

  test("count as of their own date if a clock that was set back dated them again", () => {
    const log = logOf(created("right", -5_000), { kind: "redated", ...base("right", -24 * HOUR) });
    expect(counted(log)).toEqual({ right: [-5_000, false] });
  });

  test.each([
    [1_000, -48 * HOUR, true],
    [1_001, -48 * HOUR, false],
    [1_001, -HOUR, true],
    [1_001, -2_000, true],
  ])("are looked for behind %d lines dated %d ms from now: %j", (count, ms, isFound) => {
    const lines = Array.from({ length: count }, (_, i) => seen(`seen-${i}`, ms));
    const log = logOf(created("hidden", -4_000), ...lines, created("last", -1_000));
    expect(counted(log)).toEqual({ last: [-1_000, false], ...(isFound && { hidden: [-4_000, false] }) });
  });

  test("are looked for behind any number of lines that are not dated back in one run", () => {
    const back = Array.from({ length: 600 }, (_, i) => seen(`seen-${i}`, -48 * HOUR));
    const log = logOf(created("hidden", -4_000), ...back, seen("between", -1), ...back);
    expect(counted(log)).toEqual({ hidden: [-4_000, false] });
  });

  test("are not those that were settled as never made, however they were dated before", () => {
    const { at: _, ...never } = { ...created("never", -4_000), kind: "not-created" as const };
    const log = logOf(
      { kind: "redated", ...base("never", -5_000) },
      { ...never, at: at(-1_000) } as HistoryLine,
      { kind: "redated", ...base("refused", -5_000) },
      dismissed("refused", -1_000, "RESOLVED"),
    );
    expect(counted(log)).toEqual({});
  });

  test("are told by the kind of their line, whatever else a later version writes there", () => {
    const log = logOf(created("made", 0, { code: "RESOLVED" }), {
      ...seen("seen", -1),
      ...base("seen", -1),
    });
    expect(counted(log)).toEqual({ made: [0, false] });
  });

  test("are not those with a date that cannot be read", () => {
    expect(counted(logOf(created("torn", 0, { at: "yesterday" }), created("made", -1)))).toEqual({
      made: [-1, false],
    });
  });
});

test("durations are those of an origin, the newest first, none of a clock that was set back", () => {
  const folder = folderWith();
  logIn(folder, [
    seen("a", 1, 10),
    seen("b", 2, -20),
    seen("c", 3),
    seen("d", 4, 40, "https://b.example"),
    seen("e", 5, 50),
    seen("f", 6, 0),
    created("g", 7, { duration_ms: 70 }),
    { ...seen("h", 8), later: { duration_ms: 80 } } as HistoryLine,
  ]);
  const history = new History(folder, () => NOW);
  expect(history.listDurations(ORIGIN, 9)).toEqual([0, 50, 10]);
  expect(history.listDurations(ORIGIN, 2)).toEqual([0, 50]);
});

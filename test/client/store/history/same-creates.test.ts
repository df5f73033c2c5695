import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AppendLog } from "../../../../src/client/store/history/append-log.js";
import {
  type CreateIdentity,
  computeUnsentKey,
  findEqualCreates,
} from "../../../../src/client/store/history/equal-creates.js";
import {
  buildHistoryEntry,
  buildIntent,
  type HistoryEntry,
  type HistoryLine,
} from "../../../../src/client/store/history/history-records.js";
import { parseExact } from "../../../../src/core/json/exact-json.js";
import type { JsonSchema } from "../../../../src/core/protocol/conversation.js";
import { folderWith } from "../../../support/folder.js";

const NOW = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;
const WANTED = { origin: "https://a.example", apiKey: "k", body: { prompt: "p" } };
const withSchema = (output_schema: JsonSchema): CreateIdentity => ({
  ...WANTED,
  body: { prompt: "p", structured_output: true, output_schema },
});

const intent = (name: string, ms: number, wanted: CreateIdentity) => ({
  ...buildIntent({ profile: null, ...wanted }, new Date(NOW + ms).toISOString()),
  local_id: `local-${name}`,
});
/** A create `ms` after now; `wanted` says what it asked for. */
const created = (name: string, ms: number, wanted: CreateIdentity = WANTED) => {
  const record = intent(name, ms, wanted);
  const made = { request_id: name, status: "PENDING", created_at: null, at: record.sent_at };
  return { ...record, kind: "created" as const, ...made };
};

function logOf(...lines: HistoryLine[]): AppendLog {
  const path = join(folderWith(), "history.jsonl");
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join("\n"));
  return new AppendLog(path);
}

function same(lines: HistoryLine[], wanted: CreateIdentity = WANTED, found: HistoryEntry[] = []) {
  return findEqualCreates(logOf(...lines), { unknown: [], found }, wanted, NOW - HOUR).made;
}
const names = (entries: HistoryEntry[]) => entries.map(({ request_id }) => request_id);

describe("the requests like one that is wanted", () => {
  test("have its origin, key, prompt and schema", () => {
    const lines = [
      created("same", -1),
      created("origin", -1, { ...WANTED, origin: "https://b.example" }),
      created("key", -1, { ...WANTED, apiKey: "l" }),
      created("prompt", -1, { ...WANTED, body: { prompt: "q" } }),
      created("schema", -1, withSchema({ type: "object" })),
    ];
    expect(names(same(lines))).toEqual(["same"]);
    expect(names(same(lines, withSchema({ type: "object" })))).toEqual(["schema"]);
  });

  test("are no older than the time asked about, the newest first", () => {
    const lines = [-HOUR - 1, -HOUR, -3, -5, -4].map((ms) => created(String(ms), ms));
    expect(names(same(lines))).toEqual(["-3", "-4", "-5", String(-HOUR)]);
  });

  test("are not those that were settled as never made", () => {
    const never = { ...intent("never", -1, WANTED), kind: "not-created" as const, at: "t" };
    expect(same([never])).toEqual([]);
  });

  test("are also those whose outcome found room only beside the intent, each once, as the log has it", () => {
    const entries = [
      ...["a", "b"].map((name) => buildHistoryEntry(created(name, -2))),
      buildHistoryEntry(created("other", -2, { ...WANTED, body: { prompt: "q" } })),
      buildHistoryEntry(created("old", -HOUR - 1)),
    ];
    const seen: HistoryLine = {
      kind: "status",
      request_id: "b",
      origin: WANTED.origin,
      status: "COMPLETED",
      at: "t",
    };
    const made = same([created("b", -2), seen], WANTED, entries);
    expect(made.map(({ request_id, status }) => [request_id, status])).toEqual([
      ["a", "PENDING"],
      ["b", "COMPLETED"],
    ]);
  });

  test.each([
    [999, ["last", "hidden"]],
    [1_000, ["last", "hidden"]],
    [1_001, ["last"]],
  ])("are looked for behind %d entries that a clock dated back: %j", (count, expected) => {
    const back = Array.from({ length: count }, (_, i) => created(`back-${i}`, -48 * HOUR));
    expect(names(same([created("hidden", -2), ...back, created("last", -1)]))).toEqual(expected);
  });

  test("are looked for behind any number of entries that are just not too old", () => {
    const edge = Array.from({ length: 1_001 }, (_, i) => created(`edge-${i}`, -HOUR));
    expect(names(same([created("hidden", -2), ...edge]))).toContain("hidden");
  });

  test("are looked for behind any number of entries that are not dated back in one run", () => {
    const back = (from: number) =>
      Array.from({ length: 600 }, (_, i) => created(`back-${from + i}`, -48 * HOUR));
    const lines = [created("hidden", -2), ...back(0), created("between", -1), ...back(600)];
    expect(names(same(lines))).toEqual(["between", "hidden"]);
  });
});

test("creates like it without an outcome are named whatever their age, with the process that waits for one", () => {
  const sender = { pid: 1, host: "h" };
  const unknown = [
    { intent: intent("a", -2 * HOUR, WANTED), outcome: undefined, sender },
    { intent: intent("b", -1, { ...WANTED, body: { prompt: "q" } }), outcome: undefined, sender },
    { intent: intent("c", -1, WANTED), outcome: undefined },
  ];
  const { made, unsettled } = findEqualCreates(logOf(), { unknown, found: [] }, WANTED, NOW - HOUR);
  expect(made).toEqual([]);
  expect(unsettled.map(({ entry, sender }) => [entry.local_id, entry.status, sender])).toEqual([
    ["local-a", "UNKNOWN", { pid: 1, host: "h" }],
    ["local-c", "UNKNOWN", undefined],
  ]);
});

describe("the name of a create", () => {
  test.each([
    [withSchema({ a: 1, b: { c: [1, 2], d: null } }), withSchema({ b: { d: null, c: [1, 2] }, a: 1 }), true],
    [withSchema({ a: [1, 2] }), withSchema({ a: [2, 1] }), false],
    [withSchema({ a: 1 }), withSchema({ a: 2 }), false],
    [withSchema({ a: {} }), withSchema({ a: [] }), false],
    [WANTED, withSchema({}), false],
  ])("of %j and of %j is the same: %j", (one, other, expected) => {
    expect(computeUnsentKey(one) === computeUnsentKey(other)).toBe(expected);
  });

  test("tells no two ways to write a number apart", () => {
    const name = (text: string) =>
      computeUnsentKey({
        ...WANTED,
        body: { prompt: "p", output_schema: parseExact(text) as JsonSchema },
      });
    expect(name('{"maximum":1.0}')).toBe(name('{"maximum":1}'));
  });

  test("does not contain the key", () => {
    expect(computeUnsentKey({ ...WANTED, apiKey: "secret" })).not.toContain("secret");
  });
});

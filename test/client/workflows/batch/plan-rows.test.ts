import { describe, expect, test } from "vitest";
import type { KnownRow } from "../../../../src/client/workflows/batch/batch-journal.js";
import type { BatchRow } from "../../../../src/client/workflows/batch/batch-row.js";
import {
  chooseStateWord,
  listChangedRows,
  listOccupiedFiles,
  planRows,
  type RowState,
} from "../../../../src/client/workflows/batch/plan-rows.js";

const row = (key: string | undefined, digest = "d1", line = 1): BatchRow => ({
  id: key === undefined ? `ask:${digest}` : `key:${key}`,
  ...{ key, line, digest, body: { prompt: "p" } },
});
const knownRow = (stage: KnownRow["stage"], rest: Partial<KnownRow> = {}): KnownRow => ({
  ...{ key: "a", digest: "d1", stem: "a", localId: "local-1", sentAt: "2030-01-01T00:00:00.000Z", stage },
  ...rest,
});
const there = () => true;
const plan = (before: KnownRow | undefined, options = {}, hasFile: (name: string) => boolean = there) =>
  planRows([row("a")], new Map(before ? [["key:a", before]] : []), options, hasFile)[0] as RowState;

describe("where a row stands, by what the journal knows", () => {
  test.each([
    ["nothing", undefined, "waiting"],
    ["a create that was not made", knownRow("free"), "waiting"],
    ["a create without an outcome", knownRow("open"), "unknown"],
    ["a request", knownRow("created", { requestId: "id" }), "running"],
    ["a refused create", knownRow("refused"), "refused"],
    ["a result", knownRow("ended", { status: "COMPLETED", file: "a.md" }), "done"],
    ["FAILED", knownRow("ended", { status: "FAILED" }), "failed"],
    ["STOPPED", knownRow("ended", { status: "STOPPED" }), "stopped"],
    ["another question under the same key", knownRow("refused", { digest: "d0" }), "waiting"],
  ])("%s", (_, before, standing) => {
    expect(plan(before).standing).toBe(standing);
  });

  test.each([
    [{ retryFailed: true }, knownRow("refused"), "waiting"],
    [{ retryFailed: true }, knownRow("ended", { status: "FAILED" }), "waiting"],
    [{ retryFailed: true }, knownRow("ended", { status: "FAILED", cutShort: true }), "failed"],
    [{ retryPartial: true }, knownRow("ended", { status: "FAILED", cutShort: true }), "waiting"],
    [{ retryPartial: true }, knownRow("ended", { status: "FAILED" }), "failed"],
    [{ retryRefused: true }, knownRow("refused"), "waiting"],
    [{ retryFailed: true }, knownRow("ended", { status: "STOPPED" }), "stopped"],
    [{ retryFailed: true }, knownRow("open"), "unknown"],
    [{ resendUnknown: true }, knownRow("open"), "waiting"],
    [{ resendUnknown: true }, knownRow("ended", { status: "FAILED" }), "failed"],
  ])("%o", (options, before, standing) => {
    expect(plan(before, options).standing).toBe(standing);
  });
});

test("a result whose file was deleted is fetched again", () => {
  const before = knownRow("ended", { status: "COMPLETED", file: "a.md", requestId: "id" });
  expect(plan(before, {}, (name) => name !== "a.md")).toMatchObject({
    ...{ standing: "running", requestId: "id", status: null, file: undefined },
  });
});

test("what is known of a row is kept, and forgotten when it is sent again", () => {
  const error = { code: "X", message: "m", exit_code: 6 };
  const before = knownRow("ended", {
    status: "FAILED",
    requestId: "id",
    endedAt: "then",
    error,
  });
  expect(plan(before)).toMatchObject({
    ...{ requestId: "id", localId: "local-1", status: "FAILED", endedAt: "then", error },
  });
  expect(plan(before, { retryFailed: true })).toEqual({
    ...{ row: row("a"), standing: "waiting", stem: "a", status: null },
  });
});

describe("file names", () => {
  const stems = (rows: BatchRow[], before: KnownRow[] = []) =>
    planRows(rows, new Map(before.map((one) => [`old:${one.stem}`, one])), {}, there).map(({ stem }) => stem);

  test("the key, else the line", () => {
    expect(stems([row("a"), row(undefined, "d2", 7)])).toEqual(["a", "line-7"]);
  });

  test("a line's name that is taken gets the digest", () => {
    const digest = "0123456789abcdef";
    expect(stems([row(undefined, digest, 7)], [knownRow("ended", { stem: "line-7" })])).toEqual([
      "line-7-01234567",
    ]);
  });

  test("keys that differ in case or normalisation only get names that do not collide", () => {
    const [first, second] = stems([row("Acme", "aaaaaaaa11"), row("ACME", "bbbbbbbb22")]);
    expect([first, second]).toEqual(["Acme", "ACME-bbbbbbbb"]);
    const [composed, decomposed] = stems([row("\u00e9", "aaaaaaaa11"), row("e\u0301", "bbbbbbbb22")]);
    expect(composed).not.toBe(decomposed?.normalize("NFC"));
  });

  test("a name of an earlier command stays", () => {
    const before = new Map([["key:a", knownRow("created", { stem: "line-1" })]]);
    expect(planRows([row("a")], before, {}, there)[0]?.stem).toBe("line-1");
  });
});

describe("a key whose question has changed", () => {
  test.each([
    ["open", 1],
    ["created", 1],
    ["ended", 1],
    ["free", 0],
    ["refused", 0],
  ] as const)("is an error after %s: %i", (stage, count) => {
    const before = new Map([["key:a", knownRow(stage, { digest: "d0" })]]);
    expect(listChangedRows([row("a")], before)).toHaveLength(count);
  });

  test("is no error if it has not changed, or is new", () => {
    expect(listChangedRows([row("a"), row("b")], new Map([["key:a", knownRow("created")]]))).toEqual([]);
  });
});

test("only rows that are still to be sent collide with foreign files, Markdown or JSON", () => {
  const state = (stem: string, standing: RowState["standing"]): RowState => ({
    ...{ row: row(stem), stem, standing, status: null },
  });
  const states = [state("a", "waiting"), state("b", "waiting"), state("c", "done"), state("d", "waiting")];
  const files = listOccupiedFiles(states, new Set(["a.md", "b.json", "c.md", "d.txt"]));
  expect(files.map(({ file }) => file)).toEqual(["a.md", "b.json"]);
});

test.each([
  ["refused", null, "REFUSED"],
  ["unknown", "PENDING", "UNKNOWN"],
  ["waiting", null, "WAITING"],
  ["running", "PROCESSING", "PROCESSING"],
] as const)("%s %s is %s", (standing, status, word) => {
  expect(chooseStateWord({ ...plan(undefined), standing, status })).toBe(word);
});

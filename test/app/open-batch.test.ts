import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  createBatchPacer,
  describeRow,
  openBatch,
  openNamedAccounts,
  ROW_FORMS,
} from "../../src/app/open-batch.js";
import { ProfileAccount } from "../../src/app/profile-account.js";
import { RefusedError } from "../../src/client/calls/errors.js";
import { findProvider, type Provider } from "../../src/client/dialects/providers.js";
import { type KnownRow, mergeHistoryOutcomes } from "../../src/client/workflows/batch/batch-journal.js";
import type { BatchRow } from "../../src/client/workflows/batch/batch-row.js";
import type { Result } from "../../src/client/workflows/fetch-results.js";
import { systemClock } from "../../src/core/clock.js";
import { accountWith } from "../support/account.js";
import { folderWith } from "../support/folder.js";

const rowOf = (id: string, digest = "d"): BatchRow => ({
  id,
  key: id,
  line: 1,
  body: { prompt: "q" },
  digest,
});

function machineIn(home: string, env = {}, choices = {}) {
  const service = { RESEARCH_BASE_URL: "https://one.example", RESEARCH_API_KEY: "k-0123456789" };
  const all = { HOME: home, RESEARCH_NO_HISTORY: "1", ...service, ...env };
  return new ProfileAccount({ env: all, platform: "linux", clock: systemClock, choices });
}

test("without a key no folder is made", async () => {
  const out = join(folderWith(), "out");
  const account = machineIn(out, { RESEARCH_API_KEY: undefined });
  for (const rows of [[rowOf("a")], []])
    await expect(openBatch(account, rows, { out, limit: 1 })).rejects.toMatchObject({
      code: "NOT_AUTHENTICATED",
    });
  expect(existsSync(out)).toBe(false);
});

test("a row's profile has its own base URL, so none is chosen beside it", () => {
  const account = machineIn(folderWith(), {}, { baseUrl: "https://two.example" });
  expect(openNamedAccounts(account, [rowOf("a")])).toEqual(new Map());
  expect(() => openNamedAccounts(account, [{ profile: "p" }])).toThrow(
    "--base-url and a row's profile cannot be used together",
  );
});

test("a folder is held until the batch is closed, and by none that could not be opened", async () => {
  const home = folderWith();
  const [out, account] = [join(home, "out"), machineIn(home)];
  const job = await openBatch(account, [rowOf("a")], { out, limit: 1 });
  expect(job.states.map(({ row }) => row.id)).toEqual(["a"]);
  await expect(openBatch(account, [rowOf("a")], { out, limit: 1 })).rejects.toThrow();
  job.folder.close();
  const empty = await openBatch(account, [], { out, limit: 1 });
  expect(empty.lanes.map(({ account }) => account.origin)).toEqual(["https://one.example"]);
  empty.folder.close();
});

test("results that are there and not ours are not overwritten", async () => {
  const home = folderWith({ "out/a.md": "mine", "out/b.md": "mine" });
  const open = (...rows: BatchRow[]) =>
    openBatch(machineIn(home), rows, { out: join(home, "out"), limit: 1 });
  await expect(open(rowOf("a"))).rejects.toThrow(
    "contains a.md (for a), which this batch did not write; use another folder",
  );
  await expect(open(rowOf("a"), rowOf("b"))).rejects.toThrow(
    "contains a.md (for a), and 1 more, which this batch",
  );
});

test("a row that was sent keeps its request: another one under its key is refused, and the folder is free", async () => {
  const home = folderWith();
  const out = join(home, "out");
  const open = (digest: string) => openBatch(machineIn(home), [rowOf("a", digest)], { out, limit: 1 });
  const { folder } = await open("d");
  const row = { row: "a", key: "a", digest: "d", stem: "a", local_id: null };
  const account = { origin: "https://one.example", profile: null };
  folder.record({ kind: "intent", ...row, ...account, at: "2030-01-01T00:00:00.000Z" });
  folder.close();
  await expect(open("other")).rejects.toThrow(`the request with the key "a" differs from the one in ${out}`);
  (await open("d")).folder.close();
});

test("a check of a result ends with the signal", async () => {
  const row = { ...rowOf("a"), body: { prompt: "q", output_schema: {} } };
  const result = { value: 1, exact: 1, data: {} } as unknown as Result;
  const reason = new Error("interrupted");
  await expect(ROW_FORMS.check?.(result, { row } as never, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("a result that does not fit its row's schema is said, one that fits or has none is not", async () => {
  const check = (schema: object | undefined, value: unknown) => {
    const row = { ...rowOf("a"), body: { prompt: "q", ...(schema && { output_schema: schema }) } };
    const result = { value, exact: value, data: {} } as unknown as Result;
    return ROW_FORMS.check?.(result, { row } as never, new AbortController().signal);
  };
  expect(await check(undefined, 1)).toBeUndefined();
  expect(await check({ type: "number" }, 1)).toBeUndefined();
  expect(await check({ type: "string" }, 1)).toMatch(/^the result does not fit its schema: .*must be string/);
});

test("each row has the account of its profile and its limit, and one that was sent the account that made it", async () => {
  const key = { "api-key": "k", "api-key-origin": "https://two.example" };
  const profiles = {
    two: { "base-url": "https://two.example", tier: "pro", ...key },
    moved: { "base-url": "https://three.example" },
  };
  const home = folderWith({ "config/config.json": JSON.stringify({ profiles }) });
  const out = join(home, "out");
  const open = (...rows: BatchRow[]) =>
    openBatch(machineIn(home, { RESEARCH_CONFIG_DIR: join(home, "config") }), rows, { out, limit: 1 });
  const first = await open(rowOf("a"), { ...rowOf("b"), profile: "two" });
  expect(first.lanes.map(({ account, pacer }) => [account.origin, pacer.estimateOutlook()?.left])).toEqual([
    ["https://one.example", 1],
    ["https://two.example", 100],
  ]);
  const keyless = machineIn(home, { RESEARCH_CONFIG_DIR: join(home, "config"), RESEARCH_API_KEY: "" });
  const named = { out: join(home, "named"), limit: 1 };
  const other = await openBatch(keyless, [{ ...rowOf("a"), profile: "two" }], named);
  expect(other.lanes.map(({ account }) => account.origin)).toEqual(["https://two.example"]);
  other.folder.close();
  const at = "2030-01-01T00:00:00.000Z";
  const made: [string, string | null, string | undefined][] = [
    ["https://one.example", null, "https://one.example"],
    ["https://two.example", "two", "https://two.example"],
    ["https://gone.example", null, "https://one.example"],
    ["https://gone.example", "two", undefined],
    ["https://one.example", "moved", "https://one.example"],
  ];
  const rows = made.map((_, index) => rowOf(`r${index}`));
  for (const [index, [origin, profile]] of made.entries()) {
    const row = { row: `r${index}`, key: `r${index}`, digest: "d", stem: `r${index}`, local_id: null };
    first.folder.record({ kind: "intent", ...row, origin, profile, at });
    first.folder.record({ kind: "created", row: row.row, request_id: `id-${index}`, created_at: null, at });
  }
  first.folder.close();
  const again = await open(...rows);
  expect(again.states.map(({ lane }) => lane?.account.origin)).toEqual(made.map(([, , origin]) => origin));
  again.folder.close();
});

const MINUTE = 60_000;
const NOW = Date.parse("2030-01-01T12:00:00Z");
const clock = { ...systemClock, now: () => NOW };

function knownRow(stage: KnownRow["stage"], minutesAgo: number, localId?: string): KnownRow {
  const sentAt = new Date(NOW - minutesAgo * MINUTE).toISOString();
  return { key: undefined, digest: "d", stem: "a", localId, sentAt, stage } as KnownRow;
}

test.each<[what: string, rows: KnownRow[], limit: number | undefined, left: unknown]>([
  ["a row that was sent counts", [knownRow("created", 10), knownRow("refused", 20)], 4, 2],
  ["one of which nothing is known counts", [knownRow("open", 10)], 4, 3],
  ["one that never left does not", [knownRow("free", 10)], 4, 4],
  ["one of more than an hour ago does not", [knownRow("ended", 61)], 4, 4],
  ["without a limit nothing is counted", [knownRow("created", 10)], undefined, undefined],
])("a batch's pace by its own rows: %s", (_what, rows, limit, left) => {
  const knownRows = new Map(rows.map((row, index) => [`${index}`, row]));
  expect(createBatchPacer(clock, undefined, knownRows, limit).estimateOutlook()?.left).toBe(left);
});

test("a batch's pace counts what else this machine sent to the service, and its rows know what the history does", () => {
  const home = folderWith();
  const account = machineIn(home, { RESEARCH_NO_HISTORY: undefined });
  const { history, origin, apiKey } = account;
  const begin = (prompt: string) =>
    history?.begin({ origin, apiKey, body: { prompt }, profile: "default" }) ?? expect.fail("no history");
  const pending = begin("one");
  pending.recordCreated("id-1", { request_id: "id-1" });
  expect(createBatchPacer(account.clock, account, new Map(), 3).estimateOutlook()?.left).toBe(2);
  const rows = new Map([
    ["a", knownRow("open", 0, pending.localId)],
    ["b", knownRow("open", 0, "never")],
  ]);
  const settled = mergeHistoryOutcomes(rows, history);
  expect([settled.get("a"), settled.get("b")]).toMatchObject([
    { stage: "created", requestId: "id-1" },
    { stage: "open" },
  ]);
  expect(mergeHistoryOutcomes(rows, undefined).get("a")).toMatchObject({ stage: "open" });
});

test("a row that the account in use has made stays with it", async () => {
  const two = { "base-url": "https://two.example", "api-key": "k", "api-key-origin": "https://two.example" };
  const settings = { profile: "two", profiles: { two } };
  const home = folderWith({ "config/config.json": JSON.stringify(settings) });
  const env = { RESEARCH_CONFIG_DIR: join(home, "config"), RESEARCH_BASE_URL: "", RESEARCH_API_KEY: "" };
  const open = () => openBatch(machineIn(home, env), [rowOf("a")], { out: join(home, "out"), limit: 1 });
  const { folder } = await open();
  const row = { row: "a", key: "a", digest: "d", stem: "a", local_id: null };
  const [origin, profile, at] = ["https://two.example", "two", "2030-01-01T00:00:00.000Z"];
  folder.record({ kind: "intent", ...row, origin, profile, at });
  folder.record({ kind: "created", row: "a", request_id: "id", created_at: null, at });
  folder.close();
  const { states, lanes, ...again } = await open();
  expect(lanes).toHaveLength(1);
  expect(states[0]?.lane).toBe(lanes[0]);
  again.folder.close();
});

test.each<[string, Partial<KnownRow>, number]>([
  ["this account", { origin: "https://one.example", profile: null }, 3],
  ["another service", { origin: "https://two.example", profile: null }, 4],
  ["another profile", { origin: "https://one.example", profile: "p" }, 4],
])("of an account's pace is what was sent to %s, or not", (_, made, left) => {
  const account = accountWith({ origin: "https://one.example" });
  const knownRows = new Map([["a", { ...knownRow("created", 10), ...made }]]);
  expect(
    createBatchPacer(clock, { ...account, provider: undefined }, knownRows, 4).estimateOutlook()?.left,
  ).toBe(left);
});

test("a 429 is about the hour, but at a provider about a moment", () => {
  const refusal = new RefusedError("rate-limited", true, "RATE_LIMIT_EXCEEDED", "slow down", {});
  const account = accountWith({ origin: "https://one.example" });
  const knownRows = new Map([
    [
      "a",
      {
        ...knownRow("created", 0),
        origin: account.origin,
        profile: null,
        sentAt: new Date(clock.now() - 600_000).toISOString(),
      },
    ],
  ]);
  const wait = (provider: Provider | undefined) =>
    (createBatchPacer(clock, { ...account, provider }, knownRows, undefined).noteRefused(refusal) ?? 0) -
    clock.now();
  expect([wait(undefined), wait(findProvider("exa"))]).toEqual([3_000_000, 60_000]);
});

test("a row is named by its key, else by its line", () => {
  expect(describeRow({ key: "acme", line: 3 })).toBe("acme");
  expect(describeRow({ key: undefined, line: 3 })).toBe("line 3");
});

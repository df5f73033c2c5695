import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RowState } from "../../../../src/client/workflows/batch/plan-rows.js";
import { buildRequestTarget } from "../../../../src/client/workflows/batch/result-collector.js";
import { accountWith } from "../../../support/account.js";
import {
  type BatchWorld,
  batchWorld,
  journalOf,
  rowsOf,
  runBatch,
  told,
} from "../../../support/batch-run.js";
import { type Behaviour, html, ok, only, refuse, reset } from "../../../support/behaviours.js";
import type { HappyOptions } from "../../../support/happy-service.js";
import { jsonLines } from "../../../support/world.js";

const AT = expect.stringMatching(/^2030-01-01T\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const JOURNAL = ".research-batch/journal.jsonl";
const NONE = Number.POSITIVE_INFINITY;

/** What goes wrong with the creates of these numbers. */
const creates = (faults: Record<number, Behaviour>) => (operation: string, nth: number) =>
  operation === "create" ? faults[nth] : undefined;

test("a row of each ending: the events, what the journal holds, and the list of results", async () => {
  const w = await batchWorld({
    fault: creates({ 4: refuse(400, "VALIDATION_ERROR"), 5: reset() }),
    output: (prompt) => (prompt.startsWith("json") ? { a: 1 } : "text"),
    dollars: () => 0.5,
  });
  const rows = rowsOf("json => COMPLETED", "=> PROCESSING FAILED", "=> STOPPED", "bad", "lost", "text");
  const { events, batch } = await runBatch(w, rows, {
    check: async (_, { row }) => (row.key === "k0" ? "no fit" : undefined),
    checkSources: async ({ row }, result) =>
      row.key === "k0" ? { checked_at: String(result?.value), counts: { found: 1 } } : undefined,
    noteOf: ({ value }) => ({ kept: value }),
  });
  const refused = "row-failed VALIDATION_ERROR";
  expect(told(events)).toEqual({
    k0: ["running PENDING", "schema-mismatch no fit", "done COMPLETED final"],
    k1: ["running PENDING", "running PROCESSING", "failed FAILED final"],
    k2: ["running PENDING", "stopped STOPPED final"],
    k3: [refused, "refused final"],
    k4: ["row-failed OUTCOME_UNKNOWN", "unknown"],
    k5: ["running PENDING", "running PROCESSING", "done COMPLETED final"],
  });
  expect(batch.progress.counts).toEqual({
    ...{ waiting: 0, running: 0, done: 2, failed: 1, stopped: 1, refused: 1, unknown: 1 },
  });

  const begun = (nth: number) => ({
    ...{ kind: "intent", key: `k${nth}`, digest: rows[nth]?.digest, stem: `k${nth}`, at: AT },
    ...{ local_id: expect.stringMatching(/^local-/), origin: w.account.origin, profile: null },
  });
  const made = { kind: "created", request_id: ID, created_at: expect.any(String), at: AT };
  const ended = (status: string, rest = {}) => ({ kind: "ended", status, at: AT, ...rest });
  const error = (code: string, exit_code = 1) => ({ code, message: expect.any(String), exit_code });
  const check = { checked_at: "[object Object]", counts: { found: 1 } };
  expect(journalOf(w)).toEqual({
    k0: [
      begun(0),
      made,
      ended("COMPLETED", { file: "k0.json", note: { kept: { a: 1 } } }),
      { kind: "checked", check, at: AT },
    ],
    k1: [begun(1), made, ended("FAILED", { error: error("RESEARCH_FAILED") })],
    k2: [begun(2), made, ended("STOPPED")],
    k3: [begun(3), { kind: "dismissed", error: error("VALIDATION_ERROR"), at: AT }],
    k4: [begun(4)],
    k5: [begun(5), made, ended("COMPLETED", { file: "k5.md", note: { kept: "text" } })],
  });

  const listed = jsonLines(w.read("results.jsonl")).sort((a, b) => Number(a.line) - Number(b.line));
  const line = (nth: number, status: string, rest = {}) => ({
    ...{ row: `key:k${nth}`, key: `k${nth}`, line: nth + 1, prompt: rows[nth]?.body.prompt },
    ...{ request_id: ID, status, file: null, at: AT, ...rest },
  });
  const unasked = { request_id: null };
  expect(listed).toEqual([
    line(0, "COMPLETED", { file: "k0.json", check }),
    line(1, "FAILED", { error: error("RESEARCH_FAILED") }),
    line(2, "STOPPED"),
    line(3, "REFUSED", { ...unasked, error: error("VALIDATION_ERROR") }),
    line(4, "UNKNOWN", {
      ...{ ...unasked, local_id: expect.stringMatching(/^local-/), error: error("OUTCOME_UNKNOWN") },
    }),
    line(5, "COMPLETED", { file: "k5.md" }),
  ]);
  expect([w.read("k0.json"), w.read("k5.md")]).toEqual(['{"a":1}', "text"]);

  // The next command reads the sources that the first one did not.
  const seen: unknown[] = [];
  const again = await runBatch(w, rows, {
    checkSources: async ({ row }, result) => {
      seen.push([row.key, result]);
      return { checked_at: "later", counts: {} };
    },
  });
  expect([seen, told(again.events)]).toEqual([[["k5", undefined]], { k5: ["done COMPLETED final"] }]);
  expect(journalOf(w).k5?.slice(3)).toEqual([
    { kind: "checked", check: { checked_at: "later", counts: {} }, at: AT },
  ]);
  expect(jsonLines(w.read("results.jsonl")).filter(({ key }) => key === "k5")).toEqual([
    line(5, "COMPLETED", { file: "k5.md", check: { checked_at: "later", counts: {} } }),
  ]);
});

const BUSY = (seconds: number) => refuse(429, LIMITED, { "retry-after": seconds });
const LIMITED = "RATE_LIMIT_EXCEEDED";
const DONE = "done COMPLETED final";
const ROW = ["running PENDING", DONE];
const LEFT = [`row-failed ${LIMITED}`, "waiting"];

test.each<[string, Behaviour, number, number, string]>([
  // Of these seconds the tries of the call itself take 8.
  ["is out for a while", html(502), 8, 28, "UNREACHABLE"],
  ["has a limit: for as long as it says", BUSY(90), 3, 270, LIMITED],
  ["has a limit: not too soon", BUSY(1), 3, 30, LIMITED],
])("a result is asked for again where the service %s", async (_, fault, times, seconds, code) => {
  const w = await batchWorld({ fault: only("output", fault, times) });
  const start = w.clock.now();
  const { events } = await runBatch(w, rowsOf("=> COMPLETED"));
  expect(told(events).k0).toEqual(["running PENDING", `trouble fetch ${code}`, DONE]);
  expect(events.filter(({ kind }) => kind === "trouble")).toHaveLength(1);
  expect([w.clock.now() - start, w.service.server.count("output")]).toEqual([seconds * 1000, times + 1]);
});

test.each<[string, Behaviour, string, number]>([
  ["has none after all", refuse(404, "REQUEST_NOT_FOUND"), "BAD_RESPONSE", 0],
  ["refuses the key", refuse(401, "INVALID_API_KEY"), "INVALID_API_KEY", 0],
  ["has a limit, for long", BUSY(60), LIMITED, 120],
])("a result stays for the next command where the service %s, and the creates go on", async (_, ...row) => {
  const [fault, code, seconds] = row;
  const w = await batchWorld({ fault: only("output", fault) });
  const start = w.clock.now();
  let left = 0;
  const { events, states } = await runBatch(w, rowsOf("=> COMPLETED", "b => COMPLETED"), {
    ...{ patience: 120_000, limit: 1 },
    seen: ({ kind }) => {
      if (kind === "row-failed") left ||= w.clock.now();
    },
  });
  const trouble = seconds > 0 ? [`trouble fetch ${code}`] : [];
  const expected = ["running PENDING", ...trouble, `row-failed ${code}`, "running COMPLETED"];
  expect(told(events)).toMatchObject({ k0: expected, k1: expected });
  expect(Math.round((left - start) / 1000)).toBe(seconds);
  expect(states[0]).toMatchObject({ standing: "running", error: { code } });
});

test("a result that cannot be written ends the creates; the next command writes it and sends the rest", async () => {
  const w = await batchWorld();
  const rows = rowsOf("one => COMPLETED", "two");
  const { events, states } = await runBatch(w, rows, {
    ...{ limit: 1 },
    format: () => {
      rmSync(join(w.out, ".research-batch/drafts"), { recursive: true, force: true });
      writeFileSync(join(w.out, ".research-batch/drafts"), "");
      return "";
    },
  });
  expect(told(events)).toEqual({
    k0: ["running PENDING", "row-failed LocalError", "running COMPLETED"],
    "": ["waiting-for-quota 01:00:01", "creates-stopped LocalError"],
  });
  expect(states.map(({ standing }) => standing)).toEqual(["running", "waiting"]);
  expect(told((await runBatch(w, rows)).events).k0).toEqual([DONE]);
  expect(w.service.server.count("create")).toBe(2);
});

test("a row of which a torn journal has no id keeps no other row from its end", async () => {
  const w = await batchWorld();
  const rows = rowsOf("a => COMPLETED", "b => COMPLETED");
  await runBatch(w, rows);
  for (const { key } of rows) rmSync(join(w.out, `${key}.md`));
  writeFileSync(join(w.out, JOURNAL), w.read(JOURNAL).replace(/.*"created","row":"key:k0".*/, "torn"));
  expect(told((await runBatch(w, rows)).events)).toEqual({ k1: [DONE] });
});

test("a row whose account is not set up any more is left with the name of that account", async () => {
  const w = await batchWorld({}, undefined, "old");
  const rows = rowsOf("=> PROCESSING");
  await runBatch(w, rows, { timeout: 1_000 });
  for (const profile of ["old", null]) {
    const elsewhere = { ...w, account: { ...w.account, origin: "https://b.example" } };
    const { events, states } = await runBatch(elsewhere, rows);
    expect(told(events)).toEqual({ k0: ["row-failed NOT_AUTHENTICATED", "running"] });
    const [{ requestId, origin, error }] = states as [RowState];
    expect(events[0]).toMatchObject({ error: { requestId } });
    const where = profile ? `profile old at ${origin}` : origin;
    expect(error?.message).toContain(`${requestId} was created with ${where}, which is not set up any more`);
    writeFileSync(join(w.out, JOURNAL), w.read(JOURNAL).replace(/"profile":"old"/g, '"profile":null'));
  }
});

test.each<[string, Behaviour | undefined, string[], string]>([
  ["late", undefined, ["row-failed TIMEOUT", "running PROCESSING"], "is not finished after 1m"],
  ["refused", refuse(401, "X"), ["row-failed X", "running PENDING"], "about X"],
])("a row that is %s is left to the next command", async (_, fault, expected, message) => {
  const w = await batchWorld({ fault: only("status", fault) });
  const { events, states } = await runBatch(w, rowsOf("=> PROCESSING"), { timeout: 60_000 });
  expect(told(events).k0?.slice(-2)).toEqual(expected);
  expect(states[0]?.error?.message).toContain(message);
  expect(events.at(-2)).toMatchObject({ error: { requestId: states[0]?.requestId } });
});

const HERE = "https://a.example";
test.each<[string, object, object]>([
  ["here", { origin: HERE, basePath: "/api" }, { origin: HERE, base_path: "/api", profile: null }],
  [
    "without a word",
    { origin: HERE, createdAt: undefined, sentAt: undefined, status: null },
    { origin: HERE, profile: null, created_at: null, sent_at: "", status: "" },
  ],
  ["elsewhere", { origin: "https://b.example", profile: "b" }, { origin: "https://b.example", profile: "b" }],
])("the request of a row that was made %s", (_, { basePath = "", ...made }: { basePath?: string }, where) => {
  const seen = { requestId: "id", createdAt: "c", sentAt: "s", status: "PENDING" };
  const account = accountWith({ origin: HERE, basePath });
  expect(buildRequestTarget({ ...seen, ...made } as unknown as RowState, account)).toEqual({
    ...{ requestId: "id", account },
    entry: { request_id: "id", status: "PENDING", created_at: "c", sent_at: "s", ...where },
  });
});

test.each<[string, Behaviour, string]>([
  ["refused for its rate", BUSY(60), LIMITED],
  ["refused for the key", refuse(401, "INVALID_API_KEY"), "INVALID_API_KEY"],
])("where no row waits, one that is %s stays with its error", async (_, fault, code) => {
  const w = await batchWorld({ fault: only("create", fault) });
  const { events, states } = await runBatch(w, rowsOf("a"), { failsAtLimits: true, limit: 1 });
  expect(told(events)).toEqual({ "": [`creates-stopped ${code}`] });
  expect(states[0]).toMatchObject({ standing: "waiting", error: { code } });
});

const promptsAt = (w: BatchWorld) =>
  w.service.server.of("create").map(({ body }) => String(JSON.parse(body.toString()).prompt).split(" ")[0]);

test("a row that is refused for a limit is sent again behind all others", async () => {
  const w = await batchWorld({ fault: creates({ 1: BUSY(60) }) });
  const { events } = await runBatch(w, rowsOf("a => COMPLETED", "b => COMPLETED", "c => COMPLETED"));
  expect(told(events)[""]).toEqual(["waiting-for-quota 00:01:00"]);
  expect(promptsAt(w)).toEqual(["a", "b", "c", "a"]);
});

test("a row that is refused five times while another is taken is left to the next command", async () => {
  const w = await batchWorld({ refuses: (prompt) => (prompt.startsWith("never") ? BUSY(1) : undefined) });
  const rows = rowsOf("never", "a => COMPLETED", "never => again", "b => COMPLETED");
  const { events, states } = await runBatch(w, rows);
  expect(promptsAt(w).filter((prompt) => prompt === "never")).toHaveLength(10);
  expect(told(events)).toMatchObject({ k0: LEFT, k1: ROW, k2: LEFT, k3: ROW });
  expect(states.map(({ standing, error }) => [standing, error?.code])).toEqual([
    ["waiting", LIMITED],
    ["done", undefined],
    ["waiting", LIMITED],
    ["done", undefined],
  ]);
});

test("a row alone is waited for, however often it is refused: the limit may be that of an hour", async () => {
  const w = await batchWorld({ fault: only("create", BUSY(600), 9) });
  const { events } = await runBatch(w, rowsOf("a => COMPLETED"));
  expect(told(events).k0).toEqual(ROW);
  expect(w.service.server.count("create")).toBe(10);
});

test("a limit of more than a day ends the creates of the account, and the rows are left", async () => {
  const w = await batchWorld({ fault: only("create", BUSY(86_401)) });
  const start = w.clock.now();
  const { events, states } = await runBatch(w, rowsOf("a", "b"));
  expect(told(events)).toEqual({ "": [`creates-stopped ${LIMITED}`] });
  expect(states.map(({ standing }) => standing)).toEqual(["waiting", "waiting"]);
  expect([w.service.server.count("create"), w.clock.now() - start]).toEqual([1, 0]);
});

test.each<[string, number, number, string[], string]>([
  ["is waited out", 12, 600_000, ["trouble create UNREACHABLE", "recovered"], "done"],
  [
    "ends the creates at last",
    NONE,
    60_000,
    ["trouble create UNREACHABLE", "creates-stopped UNREACHABLE"],
    "waiting",
  ],
])("an outage %s once the service has answered", async (_, resets, patience, expected, standing) => {
  let left = 0;
  const w = await batchWorld({ onConnection: () => (left-- > 0 ? "reset" : "serve") });
  const { events, states } = await runBatch(w, rowsOf("a => COMPLETED", "b => COMPLETED"), {
    ...{ limit: 1, patience },
    seen: (event) => {
      if (event.kind === "row" && event.final && event.state.row.key === "k0") left = resets;
    },
  });
  expect(told(events)[""]).toEqual(["waiting-for-quota 01:00:01", "unchanged", ...expected]);
  expect(events.filter(({ kind }) => kind === "trouble")).toHaveLength(1);
  expect(states.map((state) => state.standing)).toEqual(["done", standing]);
  expect(w.service.server.count("create")).toBe(standing === "done" ? 2 : 1);
  expect(journalOf(w).k1?.[1]?.kind).toBe("dismissed");
});

test.each<[string, Behaviour | undefined, string, string[]]>([
  [
    "asks to wait",
    BUSY(60),
    "=> COMPLETED",
    [`trouble poll ${LIMITED}`, `asked-to-wait ${LIMITED}`, "recovered"],
  ],
  ["waits for somebody", undefined, "=> QUEUED", ["unchanged", "stuck"]],
])("a service that %s is said once", async (_, fault, prompt, expected) => {
  const w = await batchWorld({ fault: only("status", fault, 1) });
  const { events } = await runBatch(w, rowsOf(prompt), { timeout: 12 * 60_000 });
  expect(told(events)[""]).toEqual(expected);
});

test.each<[object, object]>([
  [
    { status: "FAILED", provider_status: "incomplete", cost_dollars: 0.5 },
    { cut_short: true, cost_dollars: 0.5 },
  ],
  [{ status: "FAILED", cost_dollars: "0.5" }, {}],
])("what a state says of the costs and of a result that was cut short is kept: %j", async (data, kept) => {
  const made = ok({ request_id: "id-1", created_at: 5, status: 7 });
  const fault: HappyOptions["fault"] = (operation) =>
    operation === "create" ? made : operation === "status" ? ok({ ...data }) : undefined;
  const w = await batchWorld({ fault });
  Object.assign(w.account.history as object, {
    observe: () => {
      throw Object.assign(new Error("write"), { code: "EROFS" });
    },
  });
  const { events } = await runBatch(w, rowsOf("a"));
  expect(told(events)[""]).toEqual(["not-observed LocalError"]);
  const words = /^the state could not be kept in \/.*: the file system is read-only \(EROFS\)$/;
  expect(events).toContainEqual(
    expect.objectContaining({ error: expect.objectContaining({ message: expect.stringMatching(words) }) }),
  );
  expect(events[0]).toMatchObject({ state: { status: "PENDING", createdAt: null } });
  const { cut_short, cost_dollars } = journalOf(w).k0?.at(-1) ?? {};
  expect({ cut_short, cost_dollars }).toEqual(kept);
});

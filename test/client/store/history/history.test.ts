import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { AppendLog } from "../../../../src/client/store/history/append-log.js";
import { History } from "../../../../src/client/store/history/history.js";
import { LocalError } from "../../../../src/core/files/local-error.js";
import { folderWith } from "../../../support/folder.js";

const ORIGIN = "https://a.example";
const HOUR = 3_600_000;

let folder: string;
let log: string;
let now: number;
beforeEach(() => {
  folder = folderWith();
  log = join(folder, "history.jsonl");
  now = Date.UTC(2030, 0, 1);
});
const open = (path = folder) => new History(path, () => now);
const begin = (prompt: string, origin = ORIGIN) =>
  open().begin({ origin, profile: null, apiKey: "k", body: { prompt } });
/** A request that was made, a second before whatever comes then. */
function make(requestId: string, prompt = requestId, origin = ORIGIN) {
  const created_at = new Date(now).toISOString();
  begin(prompt, origin).recordCreated(requestId, { status: "PENDING", created_at });
  now += 1_000;
}

test("a create is unknown from its intent until its outcome", () => {
  const pending = begin("a question");
  expect(open().list({ limit: 9 })).toMatchObject([
    { status: "UNKNOWN", request_id: null, prompt: "a question" },
  ]);
  pending.recordCreated("id-1", { status: "PENDING", created_at: "2030-01-01T00:00:00Z" });
  expect(open().list({ limit: 9 })).toMatchObject([{ status: "PENDING", request_id: "id-1" }]);
});

test("it knows its folder, and an intent that cannot be kept is an error that names it", () => {
  expect(open().folder).toBe(folder);
  writeFileSync(log, "");
  // Below a file there is no room for another.
  const begin = () =>
    new History(log, () => 0).begin({ origin: ORIGIN, profile: null, apiKey: "k", body: { prompt: "x" } });
  expect(begin).toThrow(LocalError);
  expect(begin).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^could not record the request before sending it in .*jsonl: ./),
      cause: expect.any(Error),
    }),
  );
});

test("open intents that may not be read are none, and any other failure is an error", () => {
  writeFileSync(join(folder, "open"), "");
  expect(open().list({ limit: 9 })).toEqual([]);
  rmSync(join(folder, "open"));
  symlinkSync("open", join(folder, "open"));
  expect(() => open().list({ limit: 9 })).toThrow(LocalError);
  expect(() => open().list({ limit: 9 })).toThrow(/^could not read the history in .*ELOOP/);
});

test("a salvaged id stays with its unknown, and resolving settles it once", () => {
  const pending = begin("x");
  pending.recordSalvaged("id-9");
  expect(open().list({ limit: 9 })).toMatchObject([{ status: "UNKNOWN", request_id: "id-9" }]);
  expect(open().resolve(pending.localId, "id-9")).toMatchObject({ request_id: "id-9", status: "PENDING" });
  expect(open().resolve(pending.localId, "id-9")).toBeUndefined();
  expect(open().list({ limit: 9 })).toMatchObject([{ status: "PENDING", request_id: "id-9" }]);
});

test("an unknown that is settled as never created is found by its name, and listed no more", () => {
  const [pending, other] = [begin("x"), begin("y")];
  expect(open().resolve("local-none", null)).toBeUndefined();
  expect(open().resolve(pending.localId, null)).toMatchObject({ request_id: null, status: "NOT_CREATED" });
  expect(open().list({ limit: 9 })).toMatchObject([{ local_id: other.localId, status: "UNKNOWN" }]);
  expect(open().find(pending.localId)).toMatchObject([{ status: "NOT_CREATED", prompt: "x" }]);
  expect(open().findOutcome(pending.localId)).toBe("dismissed");
});

test("creates like one that is wanted are those in the log and the unknown ones", () => {
  make("id-1", "x");
  make("id-2", "y");
  const lost = begin("x");
  const wanted = { origin: ORIGIN, apiKey: "k", body: { prompt: "x" } };
  const { made, unsettled } = open().findSame(wanted, 0);
  expect(made).toMatchObject([{ request_id: "id-1" }]);
  expect(unsettled).toMatchObject([{ entry: { local_id: lost.localId }, sender: { pid: process.pid } }]);
});

test("an id that found no room in the log is kept in the room beside its intent", () => {
  const output_schema = { description: "é".repeat(5_000) };
  const body = { prompt: "ü\n", structured_output: true, output_schema } as const;
  const pending = open().begin({ origin: ORIGIN, profile: "work", apiKey: "k", body });
  // A log that leads nowhere can be neither appended to nor read.
  symlinkSync(join(folder, "missing", "log"), log);
  pending.recordCreated("id-123", { status: "PENDING", created_at: "2030-01-01T00:00:00Z" });
  expect(open().list({ limit: 9 })).toMatchObject([
    { request_id: "id-123", output_schema, prompt: "ü\n", profile: "work" },
  ]);
  expect(open().find("id-123")).toMatchObject([{ status: "PENDING" }]);
  expect(open().find("id-1")).toMatchObject([{ request_id: "id-123" }]);
  const wanted = { origin: ORIGIN, apiKey: "k", body };
  expect(open().findSame(wanted, 0).made).toMatchObject([{ request_id: "id-123" }]);
});

test("unknown outcomes first, then the newest by created_at, with the last state seen", () => {
  make("a-111");
  make("b-222");
  begin("lost");
  make("c-333");
  const [entry] = open().find("b-222");
  if (entry) open().observe(entry, "COMPLETED");
  expect(
    open()
      .list({ limit: 9 })
      .map((one) => [one.request_id, one.status]),
  ).toEqual([
    [null, "UNKNOWN"],
    ["c-333", "PENDING"],
    ["b-222", "COMPLETED"],
    ["a-111", "PENDING"],
  ]);
  expect(open().list({ limit: 2 })).toHaveLength(2);
  const named = (status: string) =>
    open()
      .list({ limit: 9, status })
      .map(({ request_id }) => request_id);
  expect(["completed", "Pending", "unknown", "STOPPED"].map(named)).toEqual([
    ["b-222"],
    ["c-333", "a-111"],
    [null],
    [],
  ]);
});

test("what is forgotten leaves its account, time and cost, and the others as they were", async () => {
  for (const id of ["a-111", "b-222", "c-333"]) make(id);
  const history = open();
  appendFileSync(log, "torn\n");
  for (const id of ["a-111", "b-222"]) {
    for (const entry of history.find(id)) history.observe(entry, "COMPLETED", { cost_dollars: 2 });
    history.results.keep(ORIGIN, id, JSON.stringify({ usage: { input_tokens: 3, output_tokens: 4 } }));
    history.checks.keep(ORIGIN, id, "{}");
  }
  const before = history.list({ limit: 9 });
  const lines = () => readFileSync(log, "utf8").split("\n").filter(Boolean).toSorted();
  const others = lines().filter((line) => !line.includes("a-111"));
  await history.forget(history.find("a-111"));
  expect(open().list({ limit: 9 })).toEqual(before.filter(({ request_id }) => request_id !== "a-111"));
  const kept = (id: string) =>
    [history.results.read(ORIGIN, id), history.checks.read(ORIGIN, id)].map(Boolean);
  expect(["a-111", "b-222"].map(kept)).toEqual([
    [false, false],
    [true, true],
  ]);
  const { key_id, sent_at: at } = before.find(({ request_id }) => request_id === "a-111") ?? expect.fail();
  const left = { kind: "forgotten", origin: ORIGIN, key_id, profile: null, at, cost_dollars: 2, tokens: 7 };
  expect(lines()).toEqual([...others, JSON.stringify(left)].toSorted());
});

test("an id is named by eight characters, its provider's prefix not counted, or by as many as only it has", () => {
  const ids = [
    "resp_0123456789aaaa",
    "resp_0123456789bbbb",
    "trun_98765432100000",
    "98765432100001",
    "short",
  ];
  for (const id of ids) make(id);
  const names = ids.map((id) => id.slice(0, open().measureNameLength(id)));
  expect(names).toEqual(["resp_0123456789a", "resp_0123456789b", "trun_98765432", "98765432100001", "short"]);
  for (const [index, name] of names.entries())
    expect(
      open()
        .find(name)
        .map((one) => one.request_id),
    ).toEqual([ids[index]]);
});

test("why a request failed may be learned after its end, which stays when and how long it was", () => {
  make("a-111");
  const [entry] = open().find("a-111");
  if (!entry) throw new Error("not recorded");
  open().observe(entry, "FAILED", { cost_dollars: 2 });
  const [failed] = open().find("a-111");
  if (!failed) throw new Error("not recorded");
  expect(failed).toMatchObject({ ended_at: expect.any(String), duration_ms: expect.any(Number) });
  open().observe(failed, "FAILED", { message: "no source" });
  open().observe({ ...failed, message: "no source" }, "FAILED", { message: "no source" });
  expect(open().find("a-111")).toEqual([{ ...failed, message: "no source" }]);
  expect(open().find(failed.local_id)).toEqual([{ ...failed, message: "no source" }]);
  expect(open().list({ limit: 9 })).toEqual([{ ...failed, message: "no source" }]);
  expect(open().listDurations(failed.origin, 9)).toHaveLength(1);
});

test("find: a whole id beats a prefix, a prefix finds all that begin so, a local id is as good", () => {
  make("abcd");
  make("abcd-1");
  make("abcd-2");
  expect(
    open()
      .find("abcd")
      .map((one) => one.request_id),
  ).toEqual(["abcd"]);
  expect(
    open()
      .find("abcd-")
      .map((one) => one.request_id)
      .sort(),
  ).toEqual(["abcd-1", "abcd-2"]);
  const [entry] = open().find("abcd-1");
  if (entry) open().observe(entry, "FAILED");
  expect(open().find(entry?.local_id ?? "")).toMatchObject([{ request_id: "abcd-1", status: "FAILED" }]);
  expect(open().find("zzzz")).toEqual([]);
});

test("find: unknown ones by their local id, and nothing that only mentions what is looked for", () => {
  const lost = begin("zzzz");
  make(`${lost.localId}-1`, "zzzz");
  const ids = (id: string) =>
    open()
      .find(id)
      .map((one) => one.local_id);
  expect(open().find(lost.localId)).toMatchObject([{ status: "UNKNOWN" }]);
  expect(ids(lost.localId.slice(0, -1))).toContain(lost.localId);
  expect(ids("local-")).toHaveLength(2);
  expect(open().find("zzzz")).toEqual([]);
});

test("find: the last state is that of the request itself, by its local id as well", () => {
  make("id-1");
  make("id-2");
  const see = (id: string, status: string) => {
    const [entry] = open().find(id);
    if (entry) open().observe(entry, status);
  };
  see("id-1", "FAILED");
  see("id-2", "id-1");
  make("id-3", "id-1");
  const local = open().find("id-1")[0]?.local_id ?? "";
  expect(open().find(local)).toMatchObject([{ request_id: "id-1", status: "FAILED" }]);
});

test("torn and foreign lines are passed over and counted, records of unknown kind are no fault, and a torn line swallows nothing", () => {
  make("id-1");
  appendFileSync(log, '{"kind":"from-the-future","x":1}\nnonsense\n[]\n{"kind":"created","torn":');
  make("id-2");
  const history = open();
  expect(history.list({ limit: 9 }).map((one) => one.request_id)).toEqual(["id-2", "id-1"]);
  expect(history.skipped).toBe(3);
  expect(readFileSync(log, "utf8")).toContain("from-the-future");
});

test("the newest of an origin is that of no other, and an unknown one counts", () => {
  make("id-1");
  make("id-2", "x", "https://b.example");
  expect(open().findNewest(({ origin }) => origin === ORIGIN)?.request_id).toBe("id-1");
  now += 1_000;
  begin("lost");
  expect(open().findNewest(({ origin }) => origin === ORIGIN)?.status).toBe("UNKNOWN");
  expect(open().findNewest(({ origin }) => origin === "https://c.example")).toBeUndefined();
});

test("the newest of an origin is the one sent last, whatever time the service gave it", () => {
  make("id-1");
  now += 1_000;
  const last = begin("x");
  last.recordCreated("id-2", { status: "PENDING", created_at: "2001-01-01T00:00:00Z" });
  expect(open().findNewest(({ origin }) => origin === ORIGIN)?.request_id).toBe("id-2");
});

test("how long runs took is known once they have ended, by origin", () => {
  make("id-1");
  now += HOUR;
  const [entry] = open().find("id-1");
  if (entry) open().observe(entry, "COMPLETED");
  expect(open().listDurations(ORIGIN, 9)).toEqual([HOUR + 1_000]);
  expect(open().listDurations("https://b.example", 9)).toEqual([]);
});

test("a state is kept once, and how long a run took only at its first final state", () => {
  make("id-1");
  const see = (status: string) => {
    const [entry] = open().find("id-1");
    if (entry) open().observe(entry, status);
  };
  const before = readFileSync(log, "utf8").length;
  see("PENDING");
  expect(readFileSync(log, "utf8")).toHaveLength(before);
  see("COMPLETED");
  see("FAILED");
  expect(open().listDurations(ORIGIN, 9)).toHaveLength(1);
  expect(open().find("id-1")).toMatchObject([{ status: "FAILED" }]);
});

test("nothing is kept of a state that was seen of a request without an id", () => {
  begin("x");
  const [entry] = open().list({ limit: 1 });
  if (entry) open().observe(entry, "COMPLETED");
  expect(existsSync(log)).toBe(false);
});

test("the outcome of a create is its entry, or that it was dismissed, and that of no other", () => {
  const made = begin("made");
  made.recordCreated("id-1", {});
  const refused = begin("refused");
  refused.recordDismissed("VALIDATION_ERROR");
  expect(open().findOutcome(made.localId)).toMatchObject({ request_id: "id-1" });
  expect(open().findOutcome(refused.localId)).toBe("dismissed");
  expect(open().findOutcome(`${refused.localId}x`)).toBeUndefined();
  expect(open().findOutcome(made.localId.slice(0, -1))).toBeUndefined();
  const redated = { local_id: "local-1", origin: ORIGIN, key_id: "k", at: new Date(0).toISOString() };
  new AppendLog(log).append({ kind: "redated", ...redated }, { sync: false });
  begin("other").recordDismissed("local-2");
  expect(["local-1", "local-2"].map((id) => open().findOutcome(id))).toEqual([undefined, undefined]);
});

test("requests that were logged in another order than they were created in are in order", () => {
  for (let i = 0; i < 5; i++) make(`later-${i}`);
  now -= 3_600_000;
  make("first");
  now += 7_200_000;
  for (let i = 0; i < 5; i++) make(`last-${i}`);
  expect(open().list({ limit: 6 }).at(-1)?.request_id).toBe("later-4");
  expect(open().list({ limit: 1 })[0]?.request_id).toBe("last-4");
});

test.each([
  [256, "ahead"],
  [257, "last"],
])(
  "256 lines more than asked for are put in order: the newest of an older one and %d is %j",
  (count, newest) => {
    now += 365 * 24 * HOUR;
    make("ahead");
    now -= 365 * 24 * HOUR;
    make("last");
    const record = JSON.parse(readFileSync(log, "utf8").trim().split("\n").at(-1) ?? "");
    const others = Array.from({ length: count - 1 }, (_, i) => ({
      ...{ ...record, local_id: `local-${i}`, request_id: `last-${i}` },
    }));
    appendFileSync(log, others.map((other) => `${JSON.stringify(other)}\n`).join(""));
    const [first] = open().list({ limit: 1 });
    expect(first?.request_id?.startsWith(newest)).toBe(true);
  },
);

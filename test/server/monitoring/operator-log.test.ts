import { connect } from "node:net";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import {
  createAccessLog,
  createHidingLog,
  describeDefect,
  formatJsonLine,
  formatLogLine,
  formatTextLine,
  type LogFacts,
  TroubleLog,
} from "../../../src/server/monitoring/operator-log.js";
import { KEY, serviceFor, until } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

const exchange = {
  at: Date.UTC(2030, 0, 1),
  method: "GET",
  path: "/a",
  status: 200,
  durationMs: 1.234,
  keyName: "alice",
  requestId: "r-1",
};

it("a line of text, with - for what there is none of", () => {
  expect(formatTextLine(exchange)).toBe("2030-01-01T00:00:00.000Z GET /a 200 1.2 ms alice r-1");
  const { at, method, path, durationMs } = exchange;
  expect(formatTextLine({ at, method, path, durationMs })).toBe(
    "2030-01-01T00:00:00.000Z GET /a - 1.2 ms - -",
  );
});

it("a line of JSON, with null for what there is none of", () => {
  const { at, method, path, durationMs } = exchange;
  expect(JSON.parse(formatJsonLine(exchange))).toEqual({
    ...{ time: "2030-01-01T00:00:00.000Z", method: "GET", path: "/a", status: 200, ms: 1.2 },
    ...{ key: "alice", request_id: "r-1" },
  });
  expect(JSON.parse(formatJsonLine({ at, method, path, durationMs }))).toMatchObject({
    ...{ status: null, key: null, request_id: null },
  });
});

it("one whose connection was closed has no status, and a key in a path is not shown however it is written", async () => {
  const lines: string[] = [];
  const accessLog = { format: "json" as const, write: (line: string) => void lines.push(line) };
  const clock = { ...systemClock, now: () => Date.UTC(2030, 0, 1), monotonic: () => 5 };
  const service = await serviceFor({ accessLog, clock });
  const path = "/api/v1/conversation/x/stop";
  const headers = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 9`;
  const socket = connect(Number(new URL(service.baseUrl).port), "127.0.0.1");
  socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n`, () => socket.resetAndDestroy());
  await until(async () => lines[0]);
  for (const key of ["a/b", "c"]) await ask(service.baseUrl, { path: `/${encodeURIComponent(key)}/d`, key });
  await ask(service.baseUrl, { path: `/api/v1/conversation/${KEY}/output`, key: KEY });
  await until(async () => lines[3]);
  const common = { time: "2030-01-01T00:00:00.000Z", method: "GET", ms: 0, key: null, request_id: null };
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { ...common, method: "POST", path, status: null, request_id: "x" },
    { ...common, path: "/[key]/d", status: 404 },
    { ...common, path: "/[key]/d", status: 404 },
    { ...common, path: "/api/v1/conversation/[key]/output", status: 404, request_id: "[key]" },
  ]);
});

it.each([
  ["text" as const, formatTextLine],
  ["json" as const, formatJsonLine],
])("a log in %s has a line of that form for each exchange", (format, lineOf) => {
  const lines: string[] = [];
  createAccessLog(format, (line) => void lines.push(line))(exchange);
  expect(lines).toEqual([`${lineOf(exchange)}\n`]);
});

it("each request has one, without its query, its key and its prompt", async () => {
  const lines: string[] = [];
  const accessLog = { format: "text" as const, write: (line: string) => void lines.push(line) };
  const service = await serviceFor({ accessLog });
  const created = await post(service.baseUrl, "/api/v1/conversations?token=secret", KEY, {
    prompt: "a private question",
  });
  const id = created.json.data?.request_id;
  await ask(service.baseUrl, { path: `/api/v1/conversation/${id}/status`, key: "wrong" });
  await ask(service.baseUrl, { path: `/${KEY}`, key: KEY });
  await ask(service.baseUrl, { path: "/%1B[31m\u00ad", headers: { Host: "elsewhere" } }).catch(() => {});
  await until(async () => (lines.length >= 3 ? true : undefined));
  const [first = "", second = "", third = ""] = lines;
  expect(first).toMatch(new RegExp(`^\\S+Z POST /api/v1/conversations 200 [\\d.]+ ms - ${id}\n$`));
  expect(second).toMatch(new RegExp(` GET /api/v1/conversation/${id}/status 401 [\\d.]+ ms - ${id}\n$`));
  expect(third).toMatch(/ GET \/\[key\] 404 /);
  expect(lines.join("")).not.toMatch(new RegExp(`secret|private|${KEY}`));
});

it("a failure is a line with what is known of it, in text and as JSON", () => {
  const facts: LogFacts = { request_id: "r-1", sqlstate: "53100" };
  const at = Date.UTC(2030, 0, 1);
  expect(formatLogLine("text", at, "a\nb", facts)).toBe(
    "2030-01-01T00:00:00.000Z error a b (request_id r-1, sqlstate 53100)",
  );
  expect(
    JSON.parse(formatLogLine("json", at, "a", { ...facts, level: "info", stack: "Error: x\n  at y" })),
  ).toEqual({
    ...{ time: "2030-01-01T00:00:00.000Z", level: "info", message: "a", ...facts, stack: "Error: x\n  at y" },
  });
});

it("without facts it is the sentence alone, and a stack follows on lines of its own", () => {
  const at = Date.UTC(2030, 0, 1);
  expect(formatLogLine("text", at, "a")).toBe("2030-01-01T00:00:00.000Z error a");
  expect(JSON.parse(formatLogLine("json", at, "a"))).toEqual({
    ...{ time: "2030-01-01T00:00:00.000Z", level: "error", message: "a" },
  });
  expect(formatLogLine("text", at, "a", { stack: "Error: x\n  at y" })).toBe(
    "2030-01-01T00:00:00.000Z error a\n  Error: x\n    at y",
  );
});

it("a secret is in no line of a log that hides it, neither in its sentence nor in a stack", () => {
  const logged: unknown[] = [];
  const log = (...line: unknown[]) => void logged.push(line);
  const hidden = createHidingLog("k1", log);
  hidden("k1 and k1", { request_id: "r", stack: "at k1\nat k1" });
  hidden("k1");
  createHidingLog(undefined, log)("k1");
  expect(logged).toEqual([
    ["[key] and [key]", { request_id: "r", stack: "at [key]\nat [key]" }],
    ["[key]", {}],
    ["k1"],
  ]);
});

it("a defect is said with its stack, whatever was thrown", () => {
  const error = new Error("x");
  expect(describeDefect(error, { request_id: "r" })).toEqual([
    "defect: x",
    { request_id: "r", stack: error.stack },
  ]);
  expect(describeDefect("thrown")).toEqual(["defect: thrown", { stack: expect.stringContaining("thrown") }]);
});

it("a trouble is said once when it begins, when its cause is another one later, and when it is over", () => {
  const logged: unknown[] = [];
  let now = 0;
  const clock = { monotonic: () => now };
  const troubles = new TroubleLog((...line) => void logged.push(line), clock);
  for (const why of ["full", "full", "gone"]) troubles.noteFailure("writes", why, { sqlstate: why });
  troubles.noteFailure("reads", "gone");
  now += 10_000;
  for (const why of ["full", "gone"]) troubles.noteFailure("writes", why, { sqlstate: why });
  for (const what of ["writes", "writes", "other"]) troubles.noteRecovery(what);
  now += 10_000;
  troubles.noteFailure("writes", "gone");
  expect(logged).toEqual([
    ["writes fail: full", { sqlstate: "full" }],
    ["reads fail: gone", undefined],
    ["writes fail: gone", { sqlstate: "gone" }],
    ["writes work again", { level: "info" }],
    ["writes fail: gone", undefined],
  ]);
});

it("one trouble has at most one line in 10 s, also if its causes alternate or it comes and goes", () => {
  const logged: string[] = [];
  let now = 0;
  const clock = { monotonic: () => now };
  const troubles = new TroubleLog((line) => void logged.push(line), clock);
  for (let n = 0; n < 85; n++) troubles.noteFailure("connections", n % 2 ? "reset" : "refused");
  expect(logged).toEqual(["connections fail: refused"]);
  for (let n = 0; n < 5; n++) {
    troubles.noteRecovery("connections");
    troubles.noteFailure("connections", "reset");
  }
  expect(logged.slice(1)).toEqual(["connections work again"]);
  now += 10_000;
  troubles.noteFailure("connections", "reset");
  expect(logged.slice(2)).toEqual(["connections fail: reset"]);
});

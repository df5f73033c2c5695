import { existsSync, readdirSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { html, only, refuse, reset } from "../../../support/behaviours.js";
import { machine, promptsOf } from "../../../support/machine.js";
import { quiet } from "../../../support/quiet.js";
import { until } from "../../../support/service.js";
import { jsonLines } from "../../../support/world.js";

const lines = (...prompts: string[]) => prompts.map((prompt) => `${prompt}\n`).join("");

type M = Awaited<ReturnType<typeof machine>>;

let m: M;
beforeEach(async () => {
  m = await machine();
});

/** What runs at the service comes to its end. */
function release({ service }: M): void {
  for (const conversation of service.conversations.values()) conversation.timeline = ["COMPLETED"];
}

/** Rows of every kind, and a service that refuses the creates of `bad` and loses the answer to those of `lost`. */
async function kinds({ bad = [3, 7], lost = [4, 8] } = {}) {
  const m = await machine({
    fault: (operation, nth) => {
      if (operation !== "create") return undefined;
      if (bad.includes(nth)) return refuse(400, "VALIDATION_ERROR", {}, "no such prompt");
      return lost.includes(nth) ? reset() : undefined;
    },
  });
  const rows = [
    { key: "good", prompt: "good" },
    { key: "failed", prompt: "sad => PENDING FAILED" },
    { key: "bad", prompt: "bad" },
    { key: "lost", prompt: "lost" },
    { key: "stopped", prompt: "halted => PROCESSING STOPPED" },
  ];
  const file = m.file("q.jsonl", lines(...rows.map((row) => JSON.stringify(row))));
  const run = (...flags: string[]) => m.batch(file, ...flags);
  return { m, file, run, rows };
}

test("a row each of FAILED, VALIDATION_ERROR, unknown and STOPPED: NDJSON, files, summary and exit code tell them apart", async () => {
  const { m, run } = await kinds();
  const { code, stdout, stderr } = await run("--json");
  expect(code).toBe(2);
  const all = jsonLines(stdout);
  const last = (key: string) => all.findLast((line) => line.key === key);
  expect(last("good")).toMatchObject({ status: "COMPLETED", final: true, file: "good.md" });
  expect(last("failed")).toMatchObject({
    status: "FAILED",
    final: true,
    error: { code: "RESEARCH_FAILED", exit_code: 3 },
  });
  expect(last("bad")).toMatchObject({
    ...{ status: "REFUSED", final: true, request_id: null },
    error: { code: "VALIDATION_ERROR", exit_code: 2, message: "no such prompt" },
  });
  expect(last("lost")).toMatchObject({
    ...{ status: "UNKNOWN", final: false, request_id: null, local_id: expect.stringMatching(/^local-/) },
    error: { code: "OUTCOME_UNKNOWN", exit_code: 11 },
  });
  expect(last("stopped")).toMatchObject({ status: "STOPPED", previous_status: "PROCESSING", final: true });
  const counts = { rows: 5, waiting: 0, running: 0, done: 1, failed: 1, refused: 1, stopped: 1, unknown: 1 };
  expect(all.at(-1)).toEqual({ summary: { ...counts, exit_code: 2 } });
  const errors = jsonLines(stderr).flatMap(({ error }) => (error ? [(error as { code: string }).code] : []));
  expect(errors).toEqual(["VALIDATION_ERROR", "OUTCOME_UNKNOWN"]);
  expect(m.results("out")).toEqual(["good.md"]);
  const listed = Object.fromEntries(m.listed("out").map(({ key, status, file }) => [key, [status, file]]));
  expect(listed).toEqual({
    good: ["COMPLETED", "good.md"],
    failed: ["FAILED", null],
    bad: ["REFUSED", null],
    lost: ["UNKNOWN", null],
    stopped: ["STOPPED", null],
  });
});

test("the same for people: a line on stdout for each row, the rest on stderr", async () => {
  const { run } = await kinds();
  const { stdout, stderr } = await run();
  const id = "[0-9a-f-]{36}";
  const lines = [
    "-\\tREFUSED\\tbad\\t-",
    `${id}\\tCOMPLETED\\tgood\\tgood\\.md`,
    `${id}\\tFAILED\\tfailed\\t-`,
    `${id}\\tSTOPPED\\tstopped\\t-`,
    "local-[0-9a-f-]+\\tUNKNOWN\\tlost\\t-",
  ];
  for (const line of lines) expect(stdout).toMatch(new RegExp(`^${line}$`, "m"));
  expect(stdout.trim().split("\n")).toHaveLength(5);
  expect(stderr).toContain("1 of 5 done, 0 running, 0 waiting, 1 failed, 1 refused, 1 stopped, 1 unknown");
  expect(stderr).toMatch(/research resolve local-\w+ --request-id ID, or --not-created/);
  expect(stderr).toContain("1 row (lost) has an unknown outcome and was not sent again");
  expect(stderr).toContain("--retry-failed");
});

test("the same command again sends nothing again: done, failed, refused, stopped and unknown rows stay", async () => {
  const { m, run } = await kinds();
  await run();
  const before = m.read("out", "results.jsonl");
  const again = await run("--json");
  expect([again.code, m.creates()]).toEqual([2, 5]);
  expect(jsonLines(again.stdout)).toHaveLength(1);
  expect(jsonLines(again.stderr)).toMatchObject([
    { error: { code: "VALIDATION_ERROR", exit_code: 2, message: "bad: no such prompt" } },
    { error: { code: "OUTCOME_UNKNOWN", exit_code: 11, local_id: expect.stringMatching(/^local-/) } },
  ]);
  expect(m.read("out", "results.jsonl")).toBe(before);
});

test("--retry-failed sends failed and refused rows again, --resend-unknown unknown ones, and neither the others", async () => {
  const { m, run } = await kinds();
  await run();
  await run("--retry-failed");
  expect(promptsOf(m.service).slice(5)).toEqual(["sad => PENDING FAILED", "bad"]);
  expect((await run("--resend-unknown")).code).toBe(2);
  expect(promptsOf(m.service).slice(7)).toEqual(["lost"]);
});

test("an unknown row that was settled since is watched, or sent again", async () => {
  const { m, run, rows } = await kinds({ bad: [3], lost: [4, 6] });
  await run();
  const [{ local_id }] = JSON.parse((await m.run("list", "--status", "unknown", "--json")).stdout);
  await m.run("resolve", local_id, "--request-id", m.service.add("lost => COMPLETED"));
  await run();
  expect([m.creates(), m.results("out")]).toEqual([5, ["good.md", "lost.md"]]);
  m.file("q.jsonl", lines(...[...rows, { prompt: "lost 2" }].map((row) => JSON.stringify(row))));
  await run();
  const [unknown] = JSON.parse((await m.run("list", "--status", "unknown", "--json")).stdout);
  await m.run("resolve", unknown.local_id, "--not-created");
  await run();
  expect(promptsOf(m.service).slice(5)).toEqual(["lost 2", "lost 2"]);
});

test("rows are known by what they ask, so rows may be added, moved and given the line of another", async () => {
  const run = (...prompts: string[]) => m.batch(m.file("q.txt", lines(...prompts)));
  await run("one", "two");
  expect((await run("zero", "one", "two", "three")).code).toBe(0);
  expect(promptsOf(m.service)).toEqual(["one", "two", "zero", "three"]);
  const files = Object.fromEntries(m.listed("out").map(({ prompt, file }) => [prompt, file]));
  expect(files).toMatchObject({ one: "line-1.md", two: "line-2.md", three: "line-4.md" });
  expect(files.zero).toMatch(/^line-1-[0-9a-f]{8}\.md$/);
  for (const [prompt, file] of Object.entries(files)) expect(m.read("out", String(file))).toContain(prompt);
});

test("a key whose prompt or schema has changed since is a bad row; the order of a schema's fields is no change", async () => {
  const run = (...rows: object[]) =>
    m.batch(m.file("q.jsonl", lines(...rows.map((row) => JSON.stringify(row)))));
  const schema = { type: "object", properties: { a: { type: "string" } } };
  await run({ key: "a", prompt: "one", output_schema: schema }, { key: "b", prompt: "two" });
  const turned = { properties: schema.properties, type: "object" };
  expect((await run({ key: "a", prompt: "one", output_schema: turned })).code).toBe(0);
  const { code, stderr } = await run({ key: "b", prompt: "two!" }, { key: "a", prompt: "one" });
  expect([code, m.creates()]).toEqual([2, 2]);
  expect(stderr).toMatch(/q\.jsonl:1: the request of the key "b" has changed/);
  expect(stderr).toMatch(/q\.jsonl:2: the request of the key "a" has changed/);
});

test("a refused row may be mended: nothing was created for its key", async () => {
  const m = await machine({
    fault: only("create", refuse(400, "VALIDATION_ERROR"), 1),
  });
  const run = (prompt: string) => m.batch(m.file("q.jsonl", lines(JSON.stringify({ key: "a", prompt }))));
  expect((await run("wrong")).code).toBe(2);
  expect((await run("right")).code).toBe(0);
});

test("Ctrl-C names the same command; research goes on, and that command takes it up", async () => {
  const file = m.file("q.txt", lines("one", "two's"));
  const flags = ["--tier", "pro", "--patience", "90m", "--template", "{{prompt}} $x => PROCESSING"];
  const running = m.start("batch", file, "--out", m.path("out"), ...flags);
  await until(async () => running.stderr.match(/is PROCESSING/g)?.length === 2 || undefined);
  running.signal("SIGINT");
  const { signal, stderr } = await running.done;
  expect(signal).toBe("SIGINT");
  const command = `research batch ${file} --out ${m.path("out")} --tier pro --patience 5400000ms --template '{{prompt}} $x => PROCESSING'`;
  expect(stderr).toContain(`running requests continue; go on with: ${command}\n`);
  release(m);
  expect((await m.batch(file, ...flags)).code).toBe(0);
  expect([m.creates(), m.results("out")]).toEqual([2, ["line-1.md", "line-2.md"]]);
});

test("files that are not this batch's are not written over, and nothing is sent", async () => {
  const file = m.file("q.jsonl", lines('{"key":"a","prompt":"x"}'));
  m.file("out/a.md", "mine");
  const { code, stderr } = await m.batch(file);
  expect([code, m.creates(), m.read("out", "a.md")]).toEqual([12, 0, "mine"]);
  expect(stderr).toContain("a.md (for a), which this batch did not write");
  const other = m.file("plain", "");
  expect((await m.run("batch", file, "--out", other)).code).toBe(12);
});

test("what a crash kept from results.jsonl or tore there is made up for", async () => {
  const file = m.file("q.txt", lines("one", "two", "three"));
  await m.batch(file);
  const whole = m.read("out", "results.jsonl");
  m.file("out/results.jsonl", whole.slice(0, whole.lastIndexOf("line")));
  m.file("out/.research-batch/drafts/line-9.md", "half");
  const { code } = await m.batch(file);
  expect([code, m.creates()]).toEqual([0, 3]);
  expect(m.read("out", "results.jsonl").split("\n").sort()).toEqual(whole.split("\n").sort());
  expect(existsSync(m.path("out", ".research-batch", "drafts", "line-9.md"))).toBe(false);
});

test("--max-failures sends no more, and sees what runs to its end", async () => {
  const file = m.file("q.txt", lines("a => FAILED", "b => PENDING COMPLETED", "c => FAILED", "d", "e"));
  const flags = ["--max-failures", "1", "--per-hour", "2", "--json"];
  const start = m.clock.now();
  const { code, stdout, stderr } = await m.batch(file, ...flags);
  expect([code, m.creates()]).toEqual([3, 2]);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ summary: { failed: 1, done: 1, waiting: 3 } });
  expect(stderr).toContain("1 row has failed, the limit of --max-failures; no more rows are sent");
  expect(m.clock.now() - start).toBeLessThan(3_600_000);
});

test("--timeout is for each row; the next command takes up what was not finished", async () => {
  const file = m.file("q.txt", lines("stuck => PENDING", "slow => PROCESSING", "quick => COMPLETED"));
  const flags = ["--timeout", "30m"];
  const { code, stdout, stderr } = await m.batch(file, "--json", ...flags);
  expect(code).toBe(8);
  const last = (line: number) => jsonLines(stdout).findLast((entry) => entry.line === line);
  expect(last(1)).toMatchObject({
    status: "PENDING",
    final: false,
    elapsed_ms: expect.closeTo(1_800_000, -4),
  });
  expect(last(2)).toMatchObject({
    status: "PROCESSING",
    final: false,
    error: { code: "TIMEOUT", exit_code: 8 },
  });
  expect(stderr).toMatch(/line 1: .* is not finished after 30m/);
  release(m);
  expect((await m.batch(file)).code).toBe(0);
  expect(m.creates()).toBe(3);
});

test("a row is asked for where it was created: another origin does not know it, which names the first one", async () => {
  const elsewhere = await machine();
  const file = m.file("q.txt", lines("slow => PROCESSING"));
  const run = (...flags: string[]) => m.batch(file, ...flags);
  expect((await run("--timeout", "1m")).code).toBe(8);
  const journal = m.read("out", ".research-batch", "journal.jsonl");
  const [intent = ""] = /^.*"intent".*$/m.exec(journal) ?? [];
  expect(JSON.parse(intent)).toMatchObject({ origin: m.service.url, profile: null });

  // The key in the environment goes to the address there only.
  m.env.RESEARCH_BASE_URL = elsewhere.service.url;
  const { code, stderr } = await run();
  m.env.RESEARCH_BASE_URL = m.service.url;
  expect([code, elsewhere.creates()]).toEqual([5, 0]);
  expect(stderr).toContain(`was created at ${m.service.url} and not at ${elsewhere.service.url}`);
  release(m);
  expect((await run()).code).toBe(0);
  expect(m.creates()).toBe(1);
});

test("an outage while sending is borne, and every row is sent once", async () => {
  const outage = { from: Number.POSITIVE_INFINITY, to: 0 };
  const isOut = () => outage.from < m.clock.now() && m.clock.now() < outage.to;
  const m: M = await machine({ onConnection: () => (isOut() ? "reset" : "serve") });
  outage.from = m.clock.now() + 55 * 60_000;
  outage.to = m.clock.now() + 65 * 60_000;
  const file = m.file("q.txt", lines("one => COMPLETED", "two => COMPLETED", "three"));
  const { code, stderr } = await m.batch(file, "--per-hour", "2");
  expect([code, promptsOf(m.service).length]).toEqual([0, 3]);
  expect(stderr).toMatch(/it will be sent again\n(.*\n)*note: the service answers again/);
});

test("a service that was never there, or a key that is none, ends it at once with the command that goes on", async () => {
  const gone = await machine();
  await gone.service.server.close();
  const file = gone.file("q.txt", lines("one"));
  const away = await gone.run("batch", file, "--out", gone.path("out"));
  expect(away).toMatchObject({ code: 9, stderr: expect.stringContaining("Then go on with: research batch") });
  m.env.RESEARCH_API_KEY = "sk-wrong-key-0000000";
  const denied = await m.batch(m.file("q.txt", lines("one", "two")));
  expect([denied.code, m.creates()]).toEqual([4, 1]);
  m.env.RESEARCH_API_KEY = "";
  expect((await m.run("batch", m.path("q.txt"), "--out", m.path("fresh"))).code).toBe(4);
  expect(existsSync(m.path("fresh"))).toBe(false);
});

test("a result that cannot be fetched for a while is asked for again; one that never comes is left for later", async () => {
  let broken = 5;
  const m = await machine({
    fault: (operation) => (operation === "output" && broken-- > 0 ? html(502) : undefined),
  });
  const file = m.file("q.txt", lines("one"));
  expect((await m.batch(file)).code).toBe(0);
  broken = Number.POSITIVE_INFINITY;
  m.file("q.txt", lines("one", "two"));
  const start = m.clock.now();
  const { code, stderr } = await m.batch(file, "--patience", "5m");
  expect([code, m.clock.now() - start > 300_000]).toEqual([9, true]);
  expect(stderr).toContain("the result will be fetched again");
  broken = 0;
  expect((await m.batch(file)).code).toBe(0);
  expect([m.creates(), m.results("out")]).toEqual([2, ["line-1.md", "line-2.md"]]);
});

test("without a history rows are never sent twice either", async () => {
  const m = await machine({
    fault: (operation, nth) => (operation === "create" && nth === 2 ? reset() : undefined),
  });
  m.env.RESEARCH_NO_HISTORY = "1";
  const file = m.file("q.txt", lines("one", "two", "three"));
  const run = () => m.batch(file, "--per-hour", "2");
  const start = m.clock.now();
  expect((await run()).code).toBe(11);
  expect(m.clock.now() - start).toBeGreaterThanOrEqual(3_600_000);
  expect((await run()).code).toBe(11);
  expect(promptsOf(m.service)).toEqual(["one", "two", "three"]);
});

test("--dry-run says how many, how long, and when the last one is sent; it leaves no trace and needs no key", async () => {
  const file = m.file("q.txt", lines(...Array.from({ length: 25 }, (_, i) => `q ${i}`)));
  m.env.RESEARCH_API_KEY = "";
  const plan = await m.batch(file, "--tier", "free", "--dry-run");
  expect(plan).toMatchObject({
    code: 0,
    stdout:
      "25 rows: 25 to send\nat 10 an hour it takes 2h 00m until the last one is sent, at 2030-01-01T02:00:00.000Z\n" +
      "line 1: q 0\nline 2: q 1\nline 3: q 2\n",
  });
  expect([m.creates(), readdirSync(m.home)]).toEqual([0, ["q.txt"]]);
  const { stdout } = await m.run("batch", file, "--dry-run", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    rows: 25,
    to_send: 25,
    limit: null,
    takes_ms: null,
    last_sent_at: null,
    first: [{ prompt: "q 0" }, { prompt: "q 1" }, { prompt: "q 2" }],
  });
  expect((await m.run("batch", file, "--dry-run")).stdout).toContain(
    "without a limit the end is not known: --per-hour N sets one",
  );
});

test("--dry-run counts what is done, and what the hour has seen", async () => {
  const file = m.file("q.txt", lines("one", "two => FAILED"));
  await m.batch(file);
  m.file("q.txt", lines("one", "two => FAILED", "three", "four"));
  const { stdout } = await m.batch(file, "--dry-run", "--json", "--per-hour", "3");
  const plan = JSON.parse(stdout);
  expect(plan).toMatchObject({ rows: 4, to_send: 2, done: 1, failed: 1, limit: 3 });
  expect(plan.takes_ms).toBeGreaterThan(3_400_000);
  expect(Date.parse(plan.ends_at)).toBeGreaterThan(Date.parse(plan.last_sent_at));
});

test("what a 429 turned away does not count as sent, after an interruption neither", async () => {
  const m = await machine({
    fault: only("create", refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 900 }), 1),
  });
  m.env.RESEARCH_NO_HISTORY = "1";
  const args = [
    "batch",
    m.file("q.txt", lines("one => COMPLETED")),
    "--out",
    m.path("out"),
    "--per-hour",
    "1",
  ];
  const letGo = m.clock.hold();
  const running = m.start(...args);
  await until(async () => running.stderr.includes("nothing is sent") || undefined);
  running.signal("SIGINT");
  expect((await running.done).signal).toBe("SIGINT");
  letGo();
  const start = m.clock.now();
  expect((await m.run(...args)).code).toBe(0);
  expect(m.clock.now() - start).toBeLessThan(60_000);
});

test("a create that was interrupted before it left is no unknown", async () => {
  let isDown = true;
  const m: M = await machine({ onConnection: () => (isDown ? "reset" : "serve") });
  const file = m.file("q.txt", lines("one => COMPLETED"));
  const letGo = m.clock.hold();
  const running = m.start("batch", file, "--out", m.path("out"));
  await until(async () => m.service.server.connections > 0 || undefined);
  await quiet();
  running.signal("SIGINT");
  expect((await running.done).signal).toBe("SIGINT");
  letGo();
  isDown = false;
  expect((await m.batch(file)).code).toBe(0);
  expect(m.creates()).toBe(1);
});

test("a result that does not fit its schema is said and not lost", async () => {
  const m = await machine({ output: () => ({ a: "b" }) });
  const output_schema = { type: "object", properties: { a: { type: "string", pattern: "^a" } } };
  const file = m.file(
    "q.jsonl",
    lines(JSON.stringify({ key: "k", prompt: "x => COMPLETED", output_schema })),
  );
  const { code, stderr } = await m.batch(file);
  expect([code, m.results("out")]).toEqual([0, ["k.json"]]);
  expect(stderr).toContain("the result does not fit its schema: at /a: ");
});

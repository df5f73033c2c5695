import { existsSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderBatchIndex } from "../../../../src/cli/commands/batch/result-pages.js";
import type { RowState } from "../../../../src/client/workflows/batch/plan-rows.js";
import { refuse } from "../../../support/behaviours.js";
import { machine } from "../../../support/machine.js";

async function batchOf(rows: readonly { key: string; prompt: string }[]) {
  const m = await machine({
    fault: (operation, nth) =>
      operation === "create" && nth === 3
        ? refuse(400, "VALIDATION_ERROR", {}, "no such <prompt>")
        : undefined,
    output: (prompt) => (prompt.startsWith("data") ? { rows: [1] } : `# Answer to ${prompt}\n`),
  });
  const file = m.file("q.jsonl", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const run = (...flags: string[]) => m.batch(file, "--html", ...flags);
  return { m, run };
}

const ROWS = [
  { key: "good", prompt: "good <b>" },
  { key: "a/b #1", prompt: "data" },
  { key: "bad", prompt: "bad" },
  { key: "failed", prompt: "sad => PENDING FAILED" },
  { key: "Index", prompt: "index" },
];

/** The pages that the index leads to, in its order. */
const linked = (index: string) =>
  [...index.matchAll(/<td dir="auto"><a href="([^"]*)">/g)].map(([, href = ""]) => decodeURIComponent(href));

test("the index has each row with its state, how long it took and its page, whatever became of it", async () => {
  const { m, run } = await batchOf(ROWS);
  expect((await run()).code).toBe(2);
  const index = m.read("out", "index.html");
  const pages = linked(index);
  expect(pages).toEqual([
    ...["good.html", "a%2fb %231.html", "bad.html", "failed.html"],
    expect.stringMatching(/^Index-[0-9a-f]{8}\.html$/),
  ]);
  for (const word of ["COMPLETED", "REFUSED", "FAILED"]) expect(index).toContain(`>${word}</span>`);
  expect(index).toContain(">good &lt;b&gt;</a>");
  // A refused row ended when it was refused.
  expect(index.match(/<td>(?:\d+m )?\d+s<\/td>/g)).toHaveLength(5);
  const [good, data, bad, failed] = pages.map((page) => m.read("out", page));
  expect(good).toContain(">Answer to good &lt;b&gt;</h1>");
  expect(good).toContain("<dt>SHA-256</dt>");
  expect(data).toContain('<dt dir="auto">rows</dt>');
  expect(bad).toContain("no such &lt;prompt&gt;");
  expect(failed).toContain('<span class="state bad">FAILED</span>');
});

test("the same command on a finished folder makes the pages anew and sends nothing", async () => {
  const { m, run } = await batchOf(ROWS.slice(0, 2));
  await run();
  const before = m.read("out", "index.html");
  for (const page of ["index.html", "good.html"]) rmSync(m.path("out", page));
  const creates = m.service.server.count("create");
  expect((await run()).code).toBe(0);
  expect(m.service.server.count("create")).toBe(creates);
  expect(m.read("out", "index.html")).toBe(before);
  expect(existsSync(m.path("out", "good.html"))).toBe(true);
});

test("an interrupted batch leaves its pages too, and its command goes on with them", async () => {
  const { m } = await batchOf([]);
  const file = m.file("long.jsonl", '{"key":"slow","prompt":"slow => PROCESSING"}\n');
  const running = m.start("batch", file, "--out", m.path("out"), "--html", "--timeout", "2s");
  expect((await running.done).code).toBe(8);
  expect(m.read("out", "index.html")).toContain(">PROCESSING</span>");
});

test.each(["index.html", "good.html"])(
  "a foreign %s is never overwritten, and nothing is sent",
  async (name) => {
    const { m, run } = await batchOf(ROWS.slice(0, 1));
    m.file("out/.keep", "");
    writeFileSync(m.path("out", name), "mine");
    const { code, stderr } = await run();
    expect(code).toBe(12);
    expect(stderr).toContain(name);
    expect(m.read("out", name)).toBe("mine");
    expect(m.service.server.count("create")).toBe(0);
  },
);

/** A row in a state, which took some milliseconds if it has ended. */
const row = (status: string, stem: string, line = 1, prompt = "q", ms?: number) =>
  ({
    ...{ row: { line, body: { prompt }, digest: "" }, stem, standing: "done", status },
    ...(ms !== undefined && { sentAt: new Date(0).toISOString(), endedAt: new Date(ms).toISOString() }),
  }) as unknown as RowState;

test("each row has its question, its state, how long it took, and a link, whatever became of it", () => {
  const html = renderBatchIndex("questions.txt", [
    row("COMPLETED", "q", 1, "q", 3_000),
    row("FAILED", "it's %41:#1", 2, 'Is <b> "bold"?', 62_000),
    row("WAITING", "w", 4),
  ]);
  const cells = (line: number, page: string, question: string, look: string, state: string, took: string) =>
    `<tr><td class="right">${line}</td><td dir="auto"><a href="${page}">${question}</a></td>` +
    `<td><span class="state ${look}">${state}</span></td><td>${took}</td></tr>`;
  expect(html).toContain(cells(1, "q.html", "q", "done", "COMPLETED", "3s"));
  expect(html).toContain(
    cells(2, "it&#39;s%20%2541%3A%231.html", "Is &lt;b&gt; &quot;bold&quot;?", "bad", "FAILED", "1m 02s"),
  );
  expect(html).toContain(cells(4, "w.html", "q", "idle", "WAITING", ""));
  expect(html).toContain("3 rows · 1 COMPLETED · 1 FAILED · 1 WAITING");
  expect(html).not.toContain("<svg");
  expect(html).not.toMatch(/<script|\bsrc=|\bstyle=/);
});

test("a long question is cut between characters", () => {
  const html = renderBatchIndex("b", [row("COMPLETED", "q", 1, `${"a".repeat(299)}🚀${"b".repeat(50)}`)]);
  expect(html).toContain(`>${"a".repeat(299)}…<`);
});

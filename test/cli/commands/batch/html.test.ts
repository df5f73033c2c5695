import { expect, test } from "vitest";
import { batchIndex, rowPage } from "../../../../src/cli/commands/batch/pages.js";
import type { RowState } from "../../../../src/client/workflows/batch/plan.js";

/** A row in a state, which took some milliseconds if it has ended. */
const row = (status: string, stem: string, line = 1, prompt = "q", ms?: number) =>
  ({
    ...{ row: { line, body: { prompt }, digest: "" }, stem, standing: "done", status },
    ...(ms !== undefined && { sentAt: new Date(0).toISOString(), endedAt: new Date(ms).toISOString() }),
  }) as unknown as RowState;

test("each row has its question, its state, how long it took, and a link, whatever became of it", () => {
  const html = batchIndex("questions.txt", [
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
  const html = batchIndex("b", [row("COMPLETED", "q", 1, `${"a".repeat(299)}🚀${"b".repeat(50)}`)]);
  expect(html).toContain(`>${"a".repeat(299)}…<`);
});

test("the page of a row without a result says why", () => {
  const html = rowPage("FAILED", "no source was <found>", {
    ...{ question: "What?", requestId: "r-1", origin: "https://research.example" },
  });
  expect(html).toContain('<h1 class="question" dir="auto">What?</h1>');
  expect(html).toContain('<span class="state bad">FAILED</span>');
  expect(html).toContain("no source was &lt;found&gt;");
  expect(html).toContain('<dd dir="auto">r-1</dd>');
  expect(html).not.toContain("SHA-256");
});

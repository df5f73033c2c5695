import { expect, test } from "vitest";
import { formatShownEntry } from "../../../../src/cli/commands/show/run.js";
import type { HistoryEntry } from "../../../../src/client/store/history/history-records.js";
import { NAMED } from "../../../support/style.js";

const ENTRY: HistoryEntry = {
  ...{ local_id: "local-1", request_id: "id-1", status: "COMPLETED", prompt: "a\nb\u001b" },
  ...{ created_at: "2030-01-01T11:00:00Z", sent_at: "2030-01-01T10:00:00Z", origin: "https://a.example" },
  ...{ profile: "work", key_id: "k", structured_output: true, output_schema: { type: "object" } },
};
const details = (parts: Partial<HistoryEntry> = {}) =>
  formatShownEntry({ ...ENTRY, ...parts }, NAMED).replaceAll(/<dim>(.*?) *<\/> /g, "$1: ");

test("a field a line, the prompt last and set off", () => {
  expect(details()).toBe(
    [
      "request id: id-1",
      "local id: local-1",
      "status: <good>COMPLETED</>",
      "created: 2030-01-01T11:00:00Z",
      "sent: 2030-01-01T10:00:00Z",
      "origin: https://a.example",
      "profile: work",
      'schema: {"type":"object"}',
      "",
      "  a",
      "  b\\u{1b}",
      "",
    ].join("\n"),
  );
});

test("what is not known has no line", () => {
  const text = details({
    ...{ request_id: null, created_at: null, profile: null, structured_output: false, output_schema: null },
  });
  expect(text.split("\n").map((line) => line.split(":")[0])).toEqual([
    ...["local id", "status", "sent", "origin", "", "  a", "  b\\u{1b}", ""],
  ]);
});

test("an unknown outcome names the command that settles it", () => {
  expect(details({ request_id: null, status: "UNKNOWN" })).toContain(
    "next: research resolve local-1 --request-id ID, or --not-created if it does not exist\n",
  );
  expect(details()).not.toContain("next:");
});

test("one that ended says why, when, and how long it took", () => {
  const end = { ended_at: "2030-01-01T11:12:34Z", duration_ms: 754_000 };
  const text = details({ ...end, status: "FAILED", message: "no source was found" });
  for (const line of ["why: no source was found", "ended: 2030-01-01T11:12:34Z", "took: 12m 34s"])
    expect(text.split("\n")).toContain(line);
  expect(details({ ...end, status: "FAILED" })).toContain("why: not recorded; run `research output` to ask");
  expect(details()).not.toContain("why");
});

test("a line break in what the service or a file says makes no line of ours", () => {
  const text = details({
    ...{ status: "A\nB", created_at: "a\nb", sent_at: "c\nd", origin: "e\nf", profile: "g\nh" },
  });
  for (const line of ["<busy>A B</>", "created: a b", "sent: c d", "origin: e f", "profile: g h"])
    expect(text).toContain(line);
});

test("what it used, its sources and what a stop said stand there where they are known", () => {
  const text = formatShownEntry(
    {
      ...ENTRY,
      ...{ cost_dollars: 0.42, usage: { calls: 1, input_tokens: 1_000, output_tokens: 500 } },
      message: "stopped\nhere",
      sources: [{ title: "Tides", url: "https://a.example/" }, { title: 1, file: "a\u001b.md" }, null],
    },
    NAMED,
  ).replaceAll(/<dim>(.*?) *<\/> /g, "$1: ");
  expect(text).toContain("message: stopped here");
  expect(text.split("\n").slice(8)).toEqual([
    "cost: $0.42",
    "usage: 1 call, 1,500 tokens",
    'schema: {"type":"object"}',
    "source: Tides, https://a.example/",
    "source: a\\u{1b}.md",
    "source: null",
    ...["", "  a", "  b\\u{1b}", ""],
  ]);
});

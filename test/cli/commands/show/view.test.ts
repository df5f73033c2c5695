import { expect, test } from "vitest";
import { entryDetails } from "../../../../src/cli/commands/show/run.js";
import type { HistoryEntry } from "../../../../src/store/history/history.js";
import { NAMED } from "../../../support/style.js";

const ENTRY: HistoryEntry = {
  ...{ local_id: "local-1", request_id: "id-1", status: "COMPLETED", prompt: "a\nb\u001b" },
  ...{ created_at: "2030-01-01T11:00:00Z", sent_at: "2030-01-01T10:00:00Z", origin: "https://a.example" },
  ...{ profile: "work", key_id: "k", structured_output: true, output_schema: { type: "object" } },
};
const details = (parts: Partial<HistoryEntry> = {}) =>
  entryDetails({ ...ENTRY, ...parts }, NAMED).replaceAll(/<dim>(.*?) *<\/> /g, "$1: ");

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
      "structured: yes",
      'schema: {"type":"object"}',
      "",
      "  a",
      "  b\\u{1b}",
      "",
    ].join("\n"),
  );
});

test("what is not known is a dash, and a request without a schema has no such line", () => {
  const text = details({
    ...{ request_id: null, created_at: null, profile: null, structured_output: false, output_schema: null },
  });
  for (const line of ["request id: -", "created: -", "profile: -", "structured: no"])
    expect(text.split("\n")).toContain(line);
  expect(text.split("\n")).toHaveLength(12);
  expect(text).not.toContain("schema:");
});

test("a line break in what the service or a file says makes no line of ours", () => {
  const text = details({
    ...{ status: "A\nB", created_at: "a\nb", sent_at: "c\nd", origin: "e\nf", profile: "g\nh" },
  });
  for (const line of ["<busy>A B</>", "created: a b", "sent: c d", "origin: e f", "profile: g h"])
    expect(text).toContain(line);
});

test("what it used, its sources and what a stop said stand there where they are known", () => {
  const text = entryDetails(
    {
      ...ENTRY,
      ...{ cost_dollars: 0.42, usage: { calls: 1, input_tokens: 1_000, output_tokens: 500 } },
      message: "stopped\nhere",
      sources: [{ title: "Tides", url: "https://a.example/" }, { title: 1, file: "a\u001b.md" }, null],
    },
    NAMED,
  ).replaceAll(/<dim>(.*?) *<\/> /g, "$1: ");
  expect(text.split("\n").slice(7)).toEqual([
    "cost: $0.4200",
    "usage: 1 call, 1,500 tokens",
    "message: stopped here",
    "structured: yes",
    'schema: {"type":"object"}',
    "source: Tides, https://a.example/",
    "source: a\\u{1b}.md",
    "source: null",
    ...["", "  a", "  b\\u{1b}", ""],
  ]);
});

test("names are aligned", () => {
  expect(entryDetails(ENTRY, NAMED)).toContain("<dim>sent        </> 2030");
});

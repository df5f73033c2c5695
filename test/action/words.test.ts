import { expect, test } from "vitest";
import { inInputs, nextStep } from "../../action/words.js";

test.each([
  [
    "error: r.md exists already; --force overwrites it",
    "error: r.md exists already; `force: true` overwrites it",
  ],
  [
    "hint: Wait 5s. run waits by itself with --wait-for-quota.",
    "hint: Wait 5s. run waits by itself with `wait-for-quota: true`.",
  ],
  ["note: --tier or --per-hour counts", "note: `tier` or `per-hour` counts"],
  ["use another key, or another --out", "use another key, or another `output`"],
  [
    "error: option '--tier <tier>' argument 'gold' is invalid. Allowed choices are free, pro, enterprise.",
    "error: input 'tier', 'gold' is invalid. Allowed choices are free, pro, enterprise.",
  ],
  ["[1/3] line 1 is COMPLETED", "[1/3] line 1 is COMPLETED"],
  ["--resend-unknown sends again; x--force", "--resend-unknown sends again; x--force"],
])("%s", (line, expected) => {
  expect(inInputs(line)).toBe(expected);
});

test("a hint that names no command stays", () => {
  const hint =
    "hint: Export the report with its links, as Markdown or docx, in place of a copy; check the id.";
  expect(inInputs(hint)).toBe(hint);
});

test.each([
  "hint: Set RESEARCH_API_KEY, name a file that holds it in RESEARCH_API_KEY_FILE, or run `research login`.",
  "hint: The research goes on; go on with: research output -w 3f2a -o r.md",
  "hint: `research serve keys add --help` shows what it takes.",
])("%s is for a terminal", (line) => {
  expect(inInputs(line)).toBeUndefined();
});

test("what the next step is depends on the exit code", () => {
  expect(nextStep(0)).toBe("");
  expect(nextStep(4)).toContain("RESEARCH_API_KEY");
  expect(nextStep(8)).toContain("mode: collect");
});

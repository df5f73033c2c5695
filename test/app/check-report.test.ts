import { expect, test } from "vitest";
import { type Checker, checkReport, checkRequest } from "../../src/app/check-report.js";
import { readKeptOutcome } from "../../src/app/kept-check-outcome.js";
import { MAX_REPORT_BYTES } from "../../src/app/parse-report.js";
import { accountWithRequest } from "../support/account.js";

const named = { request_id: null, file: "x.md" };
const given = { citations: [], sources: [] };
const options = { pages: 1, timeoutMs: 1, signal: new AbortController().signal };
const checking = (check: () => Promise<unknown>) => ({ check }) as unknown as Checker;
const foundOutcome = (complete = true) => ({
  complete,
  checked_at: "t",
  citations: [],
  pages: [],
  counts: {},
});

test.each([
  [1, 0, "no answer came from the page that the report cites", "run `research doctor`"],
  [2, 0, "no answer came from any of the 2 pages that the report cites", "run `research doctor`"],
  [1, 1, "the page that the report cites could not be read", "`--json` gives the reason"],
  [2, 1, "none of the 2 pages that the report cites could be read", "`--json` gives the reason"],
  [0, 0, "no citation mark of the report leads to a source", "Export the report as Markdown"],
])("of %d pages %d answer and none can be read: nothing is checked", async (asked, answered, why, hint) => {
  const checker = checking(async () => ({ checked: foundOutcome(), unreached: { asked, answered } }));
  await expect(
    checkReport(checker, { report: { text: "x", given }, file: "x.md" }, options),
  ).rejects.toMatchObject({
    ...{
      code: "NOT_CHECKED",
      message: `${why}: nothing was checked`,
      outcome: { ...named, ...foundOutcome() },
    },
    facts: { hint: expect.stringContaining(hint) },
  });
});

test("a report of 2 MiB is checked, and not a larger one", async () => {
  const checker = checking(async () => ({ checked: foundOutcome() }));
  const check = (length: number) =>
    checkReport(checker, { report: { text: "x".repeat(length), given }, file: "x.md" }, options);
  expect(await check(MAX_REPORT_BYTES)).toEqual({ ...named, ...foundOutcome(), model: null });
  await expect(check(MAX_REPORT_BYTES + 1)).rejects.toMatchObject({
    ...{ code: "USAGE", message: "the report is over 2 MiB", facts: { hint: "Shorten it." } },
  });
  const failing = checking(() => Promise.reject(new TypeError("odd")));
  await expect(checkReport(failing, { report: { value: 1, given } }, options)).rejects.toThrow(TypeError);
});

test.each([
  ["whole", true, true, true],
  ["in part, and goes on with the same call", false, true, false],
  ["in part, and is over", false, false, true],
])("the check of a request that was done %s is kept, or not", async (_, complete, goesOn, isKept) => {
  const { target } = accountWithRequest();
  const checker = checking(async () => ({ checked: foundOutcome(complete) }));
  const outcome = await checkRequest(checker, target, { ...options, goesOn });
  expect(outcome).toEqual({ request_id: "id-1234", file: null, model: null, ...foundOutcome(complete) });
  expect(readKeptOutcome(target)).toEqual(isKept ? { ...outcome, unproven: [] } : undefined);
});

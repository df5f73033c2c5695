import { expect, test } from "vitest";
import { fitColumns } from "../../../src/cli/terminal/live-line.js";

const green = (text: string) => `\u001b[32m${text}\u001b[39m`;

test.each([
  ["short", 10, "short"],
  ["exactly", 7, "exactly"],
  ["", 5, ""],
  ["too long by one", 14, "too long by o…"],
  // Each of these takes two columns.
  ["進行中です", 10, "進行中です"],
  ["進行中です", 9, "進行中で…"],
  ["進行中です", 8, "進行中…"],
  [`${green("████")} 4 of 9`, 11, `${green("████")} 4 of 9`],
  [`${green("████")} 4 of 9`, 8, `${green("████")} 4…`.replace(" 4…", " 4 …")],
  [`${green("ab")} cd`, 3, `${green("ab")}…`],
  [`a ${green("coloured")} word`, 6, `a ${green("col…")}`],
])("%j in %i columns", (text, columns, expected) => {
  expect(fitColumns(text, columns)).toBe(expected);
});

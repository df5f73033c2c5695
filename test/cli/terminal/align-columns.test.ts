import { expect, test } from "vitest";
import { fitColumns, formatTable } from "../../../src/cli/terminal/align-columns.js";
import type { Sink } from "../../../src/cli/terminal/host.js";

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

test("rows are tabs for a script, and columns under their heads on a terminal, none wider than it", () => {
  const heads = ["NAME", "STATE", "EXPIRES", "BUDGET"];
  const rows = [
    ["alice", "valid", "-"],
    ["日本", "revoked", "-", "200/30d"],
  ];
  const on = (isTTY: boolean, columns: number) =>
    formatTable(heads, rows, { isTTY, stream: { columns } } as Sink).split("\n");
  expect(on(false, 80)).toEqual(["alice\tvalid\t-", "日本\trevoked\t-\t200/30d", ""]);
  expect(on(true, 80)).toEqual(["NAME   STATE    BUDGET", "alice  valid", "日本   revoked  200/30d", ""]);
  expect(on(true, 20)).toEqual(["NAME   STATE    BUD…", "alice  valid", "日本   revoked  200…", ""]);
  expect(formatTable(heads, [], { isTTY: true } as Sink)).toBe("");
});

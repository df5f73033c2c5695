import { COLOUR_OR_TEXT, columnsOf, unitsThatFit, widthOf } from "../../core/text/width.js";
import type { Sink } from "./host.js";
import { columnsOn } from "./style.js";

/** Text cut to so many columns of a terminal, an ellipsis at the cut; colours take none and are all kept. */
export function fitColumns(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let left = columns - 1;
  let isCut = false;
  return text.replace(COLOUR_OR_TEXT, (part, colour) => {
    if (colour || isCut) return colour ? part : "";
    const width = columnsOf(part);
    isCut = width > left;
    left -= width;
    return isCut ? `${left + width > 0 ? part.slice(0, unitsThatFit(part, left + width)) : ""}…` : part;
  });
}

/** Rows as tabs part them; on a terminal in columns under their heads, without those that hold `-` alone. */
export function rowsText(heads: readonly string[], rows: readonly (readonly string[])[], sink: Sink): string {
  if (!sink.isTTY) return rows.map((row) => `${row.join("\t")}\n`).join("");
  if (rows.length === 0) return "";
  const kept = heads.map((_, column) => rows.some((row) => (row[column] ?? "-") !== "-"));
  const shown = [heads, ...rows].map((row) => row.filter((_, column) => kept[column]));
  const widths = shown[0]?.map((_, column) => Math.max(...shown.map((row) => columnsOf(row[column] ?? ""))));
  return shown.map((row) => `${alignedRow(row, widths ?? [], columnsOn(sink)).trimEnd()}\n`).join("");
}

/** Cells in columns of these widths, the last one in what is left. Colours take no room. */
export function alignedRow(cells: readonly string[], widths: readonly number[], columns: number): string {
  const padded = cells.map((cell, index) => {
    const shown = fitColumns(cell, widths[index] ?? columns);
    const room = index < cells.length - 1 ? (widths[index] ?? 0) - widthOf(shown) : 0;
    return shown + " ".repeat(Math.max(0, room));
  });
  return fitColumns(padded.join("  "), columns);
}

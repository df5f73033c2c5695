import {
  COLOUR_OR_TEXT,
  countFittingUnits,
  measureColouredText,
  measureColumns,
} from "../../core/text/text-width.js";
import type { Sink } from "./host.js";
import { getTerminalColumns } from "./style.js";

/** Cuts text to a number of terminal columns, with an ellipsis at the end. Keeps colour codes, which take no columns. */
export function fitColumns(text: string, columns: number): string {
  if (measureColouredText(text) <= columns) return text;
  let left = columns - 1;
  let isCut = false;
  return text.replace(COLOUR_OR_TEXT, (part, colour) => {
    if (colour || isCut) return colour ? part : "";
    const width = measureColumns(part);
    isCut = width > left;
    left -= width;
    return isCut ? `${left + width > 0 ? part.slice(0, countFittingUnits(part, left + width)) : ""}…` : part;
  });
}

/** Formats rows with tabs; on a terminal as aligned columns with headings, without columns that contain only `-`. */
export function formatTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  sink: Sink,
): string {
  if (!sink.isTTY) return rows.map((row) => `${row.join("\t")}\n`).join("");
  if (rows.length === 0) return "";
  const isShown = heads.map((_, column) => rows.some((row) => (row[column] ?? "-") !== "-"));
  const shown = [heads, ...rows].map((row) => row.filter((_, column) => isShown[column]));
  const widths = shown[0]?.map((_, column) =>
    Math.max(...shown.map((row) => measureColumns(row[column] ?? ""))),
  );
  return shown.map((row) => `${alignRow(row, widths ?? [], getTerminalColumns(sink)).trimEnd()}\n`).join("");
}

/** Aligns cells to columns of these widths. The last cell gets the rest of the line. Colour codes take no columns. */
export function alignRow(cells: readonly string[], widths: readonly number[], columns: number): string {
  const padded = cells.map((cell, index) => {
    const shown = fitColumns(cell, widths[index] ?? columns);
    const room = index < cells.length - 1 ? (widths[index] ?? 0) - measureColouredText(shown) : 0;
    return shown + " ".repeat(Math.max(0, room));
  });
  return fitColumns(padded.join("  "), columns);
}

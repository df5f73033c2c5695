import { columnsOf, unitsThatFit } from "../../text/width.js";

const ESCAPE = "\u001b";
/** A colour as chalk writes it, or text without one. */
const PARTS = new RegExp(`${ESCAPE}\\[[0-9;]*m|[^${ESCAPE}]+`, "g");

/** Text cut to so many columns of a terminal, an ellipsis at the cut; colours take none and are all kept. */
export function fitColumns(text: string, columns: number): string {
  const parts = text.match(PARTS) ?? [];
  const widthOf = (part: string) => (part.startsWith(ESCAPE) ? 0 : columnsOf(part));
  if (parts.reduce((sum, part) => sum + widthOf(part), 0) <= columns) return text;
  let left = columns - 1;
  let isCut = false;
  const kept = parts.map((part) => {
    if (part.startsWith(ESCAPE)) return part;
    if (isCut) return "";
    const width = columnsOf(part);
    if (width <= left) {
      left -= width;
      return part;
    }
    isCut = true;
    return `${left > 0 ? part.slice(0, unitsThatFit(part, left)) : ""}…`;
  });
  return kept.join("");
}

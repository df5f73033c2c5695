import type { Row } from "../../../workflows/batch/row.js";

/** Names a row for people: its key, else its line. */
export function rowName({ key, line }: Pick<Row, "key" | "line">): string {
  return key ?? `line ${line}`;
}

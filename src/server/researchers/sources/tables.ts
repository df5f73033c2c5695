import type { Block } from "../blocks/block.js";
import type { Table } from "./folder-search.js";

/** The table that block `at` of a file is a row of; undefined if it is not a row. */
export function tableAt(file: string, blocks: readonly Block[], at: number): Table | undefined {
  const row = blocks[at];
  if (row?.cells === undefined) return undefined;
  const rows = blocks.flatMap((block) =>
    block.table === row.table && block.cells !== undefined ? [{ line: block.line, cells: block.cells }] : [],
  );
  return { file, header: row.header ?? [], rows, around: `${row.heading} ${row.caption ?? ""}` };
}

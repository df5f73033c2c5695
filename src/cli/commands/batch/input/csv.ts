import { CsvError, type Info, parse } from "csv-parse/sync";
import type { InputRecord, Parsed, RowFault } from "./records.js";

/** Comma-separated values with a header line (RFC 4180). What cannot be read as such ends the search for faults. */
export function parseCsv(text: string): Parsed {
  const faults: RowFault[] = [];
  const records: InputRecord[] = [];
  let columns: string[] | undefined;
  const take = ({ record: cells, raw, info }: { record: string[]; raw: string; info: Info }) => {
    // The parser counts where a record ends; a quoted cell may hold line breaks.
    const line = info.lines - (raw.trim().match(/\n/g)?.length ?? 0);
    if (!columns) {
      columns = cells.map((name) => name.trim());
      faults.push(
        ...twice(columns).map((name) => ({ line, reason: `two columns are named ${quoted(name)}` })),
      );
    } else if (cells.length !== columns.length) {
      const reason = `it has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, and the header names ${columns.length} columns`;
      faults.push({ line, reason });
    } else {
      records.push({ line, fields: Object.fromEntries(columns.map((name, i) => [name, cells[i]])) });
    }
    return null;
  };
  try {
    const options = { info: true, raw: true, skip_empty_lines: true, relax_column_count: true };
    parse(text, { ...options, on_record: (record) => take(record as unknown as Parameters<typeof take>[0]) });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === "number" ? { line: error.lines } : {};
    faults.push({ ...line, reason: `invalid CSV: ${error.message}` });
  }
  return { records, faults, columns: columns ?? [] };
}

function twice(names: readonly string[]): string[] {
  return names.filter((name, i) => names.indexOf(name) !== i);
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

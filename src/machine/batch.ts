import { LocalError } from "../store/files.js";
import type { History } from "../store/history/history.js";
import type { BatchJob, BatchRunOptions } from "../workflows/batch/context.js";
import { CreatePacer } from "../workflows/batch/create-pacer.js";
import { type KnownRow, reconcile } from "../workflows/batch/journal.js";
import { OutputFolder } from "../workflows/batch/output-folder.js";
import { changedRows, occupiedFiles, type PlanOptions, planRows } from "../workflows/batch/plan.js";
import type { Row } from "../workflows/batch/row.js";
import type { Ports } from "../workflows/ports.js";
import { checkResult } from "../workflows/results.js";
import { rowError } from "./failure.js";
import { textWithSources } from "./result-text.js";

/** How fast a batch may create. */
export interface CreatePace {
  /** Creates per hour; Infinity for no limit, undefined if it is not known. */
  limit: number | undefined;
  /** How many shards share the limit; default 1. */
  shards?: number | undefined;
}

/** How a batch keeps errors and results, whichever front end runs it. */
export const ROW_FORMS: Pick<BatchRunOptions, "describe" | "format" | "check"> = {
  describe: rowError,
  format: textWithSources,
  async check(result, { row }, signal) {
    const schema = row.body.output_schema;
    if (!schema) return undefined;
    const problem = await checkResult(result, schema, { signal });
    const { problemText } = await import("../json-schema/check.js");
    return problem && `the result does not fit its schema: ${problemText(problem, "the result")}`;
  },
};

/**
 * Opens the output folder of a batch and plans each row by what is known of it; the caller closes the folder. Rejects
 * with CodedError for a missing setting before a folder is made, and with LocalError if the folder cannot be used, or
 * belongs to other requests.
 */
export async function openBatch(
  ports: Ports,
  rows: readonly Row[],
  { out, ...options }: PlanOptions & CreatePace & { out: string },
): Promise<BatchJob> {
  void ports.apiKey;
  const folder = await OutputFolder.open(out);
  try {
    const known = settledRows(folder.known, ports.history);
    const [changed] = changedRows(rows, known);
    if (changed)
      throw new LocalError(`the request of the key ${JSON.stringify(changed.key)} has changed in ${out}`);
    const states = planRows(rows, known, options, (name) => folder.has(name));
    checkOccupied(out, occupiedFiles(states, folder.foreign));
    return { states, folder, pacer: pacerOf(ports, known, options) };
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** What the journal knows, with what the history knows of creates that it left open. */
export function settledRows(
  known: ReadonlyMap<string, KnownRow>,
  history: History | undefined,
): Map<string, KnownRow> {
  return reconcile(known, (localId) => history?.outcomeOf(localId));
}

/** Paces the creates of a batch by its own rows and, with `ports`, by all that this machine sent. */
export function pacerOf(
  ports: Pick<Ports, "history" | "origin" | "apiKey" | "clock" | "provider"> | { clock: Ports["clock"] },
  known: ReadonlyMap<string, KnownRow>,
  { limit, shards = 1 }: CreatePace,
): CreatePacer {
  const sent = [...known.values()].filter(({ stage }) => stage !== "free");
  return new CreatePacer({
    clock: ports.clock,
    attempts: () => ("origin" in ports ? ports.history?.hour(ports, limit ?? 1).attempts : undefined),
    ...{ limit, shards },
    own: sent.map(({ sentAt }) => Date.parse(sentAt)),
    isHourly: !("provider" in ports && ports.provider),
  });
}

/** Throws LocalError if results would overwrite files that this batch did not write. */
function checkOccupied(out: string, [first, ...others]: readonly { file: string; row: Row }[]): void {
  if (first === undefined) return;
  const file = `${first.file} (for ${rowName(first.row)})`;
  const more = others.length > 0 ? `, and ${others.length} more,` : "";
  throw new LocalError(`${out} holds ${file}${more} that this batch did not write; use another folder`);
}

/** Names a row for people: its key, else its line. */
export function rowName({ key, line }: Pick<Row, "key" | "line">): string {
  return key ?? `line ${line}`;
}

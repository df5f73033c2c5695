import { join } from "node:path";
import { rowError } from "../cli/commands/batch/row-failure.js";
import { resultText } from "../cli/results/result-text.js";
import { problemText } from "../json-schema/check.js";
import type { CreateBody } from "../protocol/conversation.js";
import { LocalError } from "../store/errors.js";
import { outcomeOf } from "../store/history/outcome-of.js";
import { Batch } from "../workflows/batch/batch.js";
import type { BatchEvent as WorkflowEvent } from "../workflows/batch/events.js";
import { OutputFolder } from "../workflows/batch/folder/output-folder.js";
import { reconcile } from "../workflows/batch/folder/reconcile.js";
import { CreatePacer } from "../workflows/batch/pacing/create-pacer.js";
import { changedRows, occupiedFiles, planRows, type RowState } from "../workflows/batch/plan.js";
import { digestOf, type Row, rowId } from "../workflows/batch/row.js";
import type { Ports } from "../workflows/ports.js";
import { currentHour } from "../workflows/quota.js";
import { checkResult, type Result } from "../workflows/results.js";
import type { BatchEvent, BatchOptions, BatchRequest, ResearchRequest } from "./types.js";

interface BatchMachine {
  ports: Ports;
  /** Creates per hour. */
  limit: number | undefined;
  bodyOf(request: ResearchRequest | string, signal?: AbortSignal): Promise<CreateBody>;
}

/** A batch in an output folder, as the command makes it: each of the two goes on where the other ended. */
export async function* runBatch(
  { ports, limit, bodyOf }: BatchMachine,
  requests: Iterable<BatchRequest | string> | AsyncIterable<BatchRequest | string>,
  { out, signal = new AbortController().signal, timeout, retryFailed = false }: BatchOptions,
): AsyncGenerator<BatchEvent, void> {
  const rows = await rowsOf(requests, (request) => bodyOf(request, signal));
  // A missing setting is an error before a folder is made.
  const { history, clock } = ports;
  void ports.apiKey;
  const folder = await OutputFolder.open(out);
  try {
    const known = reconcile(
      folder.known,
      (localId) => history && outcomeOf(history, history.folder, localId),
    );
    const [changed] = changedRows(rows, known);
    if (changed)
      throw new LocalError(`the request of the key ${JSON.stringify(changed.key)} has changed in ${out}`);
    const states = planRows(rows, known, { retryFailed }, (name) => folder.has(name));
    const [occupied] = occupiedFiles(states, folder.foreign);
    if (occupied) throw new LocalError(`${out} holds ${occupied.file}, which this batch did not write`);
    const sent = [...known.values()].filter(({ stage }) => stage !== "free");
    const pacer = new CreatePacer({
      clock,
      attempts: () => currentHour(ports, limit ?? 1)?.attempts,
      ...{ limit, shards: 1 },
      own: sent.map(({ sentAt }) => Date.parse(sentAt)),
    });
    const options = {
      signal,
      timeout,
      describe: rowError,
      format: resultText,
      check: checkRow,
      announces: false,
    };
    for await (const event of new Batch(ports, { states, folder, pacer }, options).run()) {
      const seen = publicEvent(event, states, folder.path);
      if (seen) yield seen;
    }
  } finally {
    folder.close();
  }
}

/** Throws TypeError for a request that cannot be sent, and for a key that stands twice. */
async function rowsOf(
  requests: Iterable<BatchRequest | string> | AsyncIterable<BatchRequest | string>,
  bodyOf: (request: BatchRequest | string) => Promise<CreateBody>,
): Promise<Row[]> {
  const rows: Row[] = [];
  const counts = new Map<string, number>();
  for await (const request of requests) {
    const key = typeof request === "string" ? undefined : request.key;
    const body = await bodyOf(request);
    const digest = digestOf(body);
    const nth = (counts.get(key === undefined ? digest : `key:${key}`) ?? 0) + 1;
    if (key !== undefined && nth > 1) throw new TypeError(`two requests have the key ${JSON.stringify(key)}`);
    counts.set(key === undefined ? digest : `key:${key}`, nth);
    rows.push({ id: rowId(key, digest, nth), key, line: rows.length + 1, body, digest });
  }
  return rows;
}

/** An event as users of the library see it; undefined for what is of no use to them. */
function publicEvent(
  event: WorkflowEvent,
  states: readonly RowState[],
  folder: string,
): BatchEvent | undefined {
  switch (event.kind) {
    case "row": {
      const { row, requestId, status, file, error } = event.state;
      return {
        ...{ kind: "row", index: states.indexOf(event.state), key: row.key, requestId, status },
        ...{ final: event.final, file: file && join(folder, file), error },
      };
    }
    case "waiting-for-quota":
    case "recovered":
      return event;
    case "trouble":
      return { kind: "trouble", error: event.error };
    case "creates-stopped":
      return { kind: "creates-stopped", error: "error" in event.reason ? event.reason.error : undefined };
    default:
      return undefined;
  }
}

async function checkRow(result: Result, { row }: RowState, signal: AbortSignal): Promise<string | undefined> {
  const schema = row.body.output_schema;
  const problem = schema && (await checkResult(result, schema, { signal }));
  return problem && problemText(problem, "the result");
}

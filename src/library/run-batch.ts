import { join } from "node:path";
import { openBatch, ROW_FORMS } from "../machine/batch.js";
import type { CreateBody } from "../protocol/conversation.js";
import { Batch } from "../workflows/batch/batch.js";
import type { BatchEvent as WorkflowEvent } from "../workflows/batch/events.js";
import type { RowState } from "../workflows/batch/plan.js";
import { digestOf, type Row, rowId } from "../workflows/batch/row.js";
import type { Ports } from "../workflows/ports.js";
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
  const job = await openBatch(ports, rows, { out, limit, retryFailed });
  const { states, folder } = job;
  try {
    const options = { ...ROW_FORMS, signal, timeout, announces: false };
    for await (const event of new Batch(ports, job, options).run()) {
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

import { NoOutputError, RefusedError, UnreachableError } from "../../client/errors.js";
import { LocalError } from "../../store/errors.js";
import type { Ports } from "../ports.js";
import { fetchResult, type Result, whyNoResult } from "../results.js";
import type { Target } from "../targets.js";
import { AsyncQueue } from "./async-queue.js";
import type { Emit } from "./events.js";
import type { RowError } from "./folder/journal.js";
import type { OutputFolder } from "./folder/output-folder.js";
import type { RowState } from "./plan.js";
import type { BatchProgress } from "./progress.js";

/** Results fetched at a time; each may be 64 MiB. */
const FETCHES = 4;
/** The wait before a result that could not be fetched is fetched again, in milliseconds. */
const RETRY_MS = 10_000;

export interface ResultCollectorParts {
  ports: Pick<Ports, "client" | "outputField" | "origin" | "clock" | "history">;
  progress: BatchProgress;
  folder: OutputFolder;
  emit: Emit;
  describe: (error: unknown) => RowError;
  /** The text of a result's file. */
  format: (result: Result) => string;
  /** Says how a result breaks the schema of its row; undefined if it fits, or the row has none. */
  check: (result: Result, state: RowState, signal: AbortSignal) => Promise<string | undefined>;
  /** Aborted when the batch ends early. */
  signal: AbortSignal;
  /** Milliseconds for which a service that cannot be reached is waited for. */
  patience: number;
  /** Whether the end of each row is announced to the caller, who confirms it with `announced`. */
  announces: boolean;
  /** Called with an error that would keep every further result from being written. */
  onUnwritable: (error: LocalError) => void;
}

/** Fetches and writes the results of rows that ended, a few at a time. */
export class ResultCollector {
  readonly #parts: ResultCollectorParts;
  readonly #ended = new AsyncQueue<RowState>();

  constructor(parts: ResultCollectorParts) {
    this.#parts = parts;
  }

  /** Takes a row in a final state. */
  add(state: RowState): void {
    this.#ended.push(state);
  }

  /** No more rows will come. */
  close(): void {
    this.#ended.close();
  }

  /** Resolves when the result of every row is written, or could not be. */
  async run(): Promise<void> {
    const fetches = Array.from({ length: FETCHES }, async () => {
      for await (const state of this.#ended) await this.#collect(state);
    });
    await Promise.all(fetches);
  }

  /** Leaves a row to the next command: it goes on at the service. */
  leave(state: RowState, error: unknown): void {
    const { progress, emit, describe } = this.#parts;
    progress.update(state, { error: describe(error) });
    emit({ kind: "row-left", state, error });
    emit({ kind: "row", state, final: false });
  }

  /** Notes that the caller has announced the end of a row. */
  announced(state: RowState): void {
    const { folder, progress } = this.#parts;
    folder.record({ kind: "told", row: state.row.id, at: this.#date() });
    progress.update(state, { announce: "done" });
  }

  async #collect(state: RowState): Promise<void> {
    const { ports, signal } = this.#parts;
    const { status, requestId = "" } = state;
    if (status === "COMPLETED") return this.#keep(state);
    const error = status === "FAILED" ? await whyNoResult(ports, requestId, status, { signal }) : undefined;
    this.#end(state, error ? { error: this.#parts.describe(error) } : {});
  }

  async #keep(state: RowState): Promise<void> {
    const { folder, signal, onUnwritable, format, check, emit } = this.#parts;
    try {
      const result = await this.#fetch(state);
      const file = `${state.stem}.${typeof result.value === "string" ? "md" : "json"}`;
      folder.write(file, format(result));
      const message = await check(result, state, signal);
      if (message !== undefined) emit({ kind: "schema-mismatch", state, message });
      this.#end(state, { file });
    } catch (error) {
      signal.throwIfAborted();
      const expected = [UnreachableError, RefusedError, NoOutputError, LocalError];
      if (!expected.some((kind) => error instanceof kind)) throw error;
      this.leave(state, error);
      if (error instanceof LocalError) onUnwritable(error);
    }
  }

  /** Waits out an outage of the service, as a watch does. */
  async #fetch(state: RowState): Promise<Result> {
    const { ports, signal, patience, emit } = this.#parts;
    const { clock } = ports;
    const end = clock.monotonic() + patience;
    for (let tries = 0; ; tries++) {
      try {
        return await fetchResult(ports, targetOf(state, ports.origin), {
          signal,
          schema: state.row.body.output_schema,
        });
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = retryAfter(error);
        if (waitMs === undefined || clock.monotonic() >= end) throw error;
        if (tries === 0)
          emit({ kind: "trouble", activity: "fetch", error: error as UnreachableError, state });
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** Writes the journal first: after a crash the other files are completed from it. */
  #end(state: RowState, details: { file?: string; error?: RowError }): void {
    const { progress, folder, emit, announces } = this.#parts;
    const status = state.status ?? "";
    const at = this.#date();
    const unreported = announces && state.announce !== "done";
    const { cutShort, costDollars } = state;
    const cost = {
      ...(cutShort && { cut_short: true }),
      ...(costDollars !== undefined && { cost_dollars: costDollars }),
    };
    folder.record({ kind: "ended", row: state.row.id, status, ...details, ...cost, owed: unreported, at });
    const standing = status === "COMPLETED" ? "done" : status === "STOPPED" ? "stopped" : "failed";
    const { file, error } = details;
    progress.update(state, { standing, file, error, endedAt: at, announce: unreported ? "pending" : "done" });
    folder.results.add(state);
    emit({ kind: "row", state, final: true });
  }

  #date(): string {
    return new Date(this.#parts.ports.clock.now()).toISOString();
  }
}

/** The request of a row that exists. */
export function targetOf(
  { requestId = "", createdAt = null, sentAt = "", status }: RowState,
  origin: string,
): Target {
  const entry = {
    request_id: requestId,
    status: status ?? "",
    origin,
    created_at: createdAt,
    sent_at: sentAt,
  };
  return { requestId, entry };
}

/** Milliseconds after which a result may be fetched that could not be; undefined if that will not change. */
function retryAfter(error: unknown): number | undefined {
  if (error instanceof UnreachableError) return RETRY_MS;
  const isLimited = error instanceof RefusedError && error.kind === "rate-limited";
  return isLimited ? Math.max((error.retryAfter ?? 0) * 1_000, RETRY_MS) : undefined;
}

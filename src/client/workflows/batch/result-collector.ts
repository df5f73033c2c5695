import { LocalError } from "../../../core/files/local-error.js";
import { NoOutputError, RefusedError, UnreachableError } from "../../calls/errors.js";
import { capPollWait } from "../../calls/failure-policy.js";
import { isResultCutShort } from "../../dialects/providers.js";
import type { Account } from "../account.js";
import { explainNoResult, fetchResult, type Result } from "../fetch-results.js";
import type { Target } from "../find-and-query-requests.js";
import { AsyncQueue } from "./async-queue.js";
import { type BatchContext, formatCurrentTime, giveUpRow } from "./batch-context.js";
import type { RowError } from "./batch-journal.js";
import type { RowState } from "./plan-rows.js";

/** Maximum number of concurrent fetches, because each result may have 64 MiB. */
const FETCHES = 4;
/** Minimum wait before another attempt to fetch a result, in milliseconds. */
const RETRY_MS = 10_000;

/** Fetches and writes the results of ended rows, a few at a time. */
export class ResultCollector {
  readonly #ended = new AsyncQueue<RowState>();

  constructor(private readonly context: BatchContext) {}

  /** Adds a row whose request has ended. */
  add(state: RowState): void {
    this.#ended.push(state);
  }

  /** Notes that no more rows will be added. */
  close(): void {
    this.#ended.close();
  }

  /** Resolves when the result of every row has been written or could not be written. */
  async run(): Promise<void> {
    const fetches = Array.from({ length: FETCHES }, async () => {
      for await (const state of this.#ended) await this.#collect(state);
    });
    await Promise.all(fetches);
  }

  /** Records the check of a row whose result was written. */
  noteCheck(state: RowState): void {
    if (state.standing !== "done") return;
    this.#recordCheck(state);
    this.context.folder.results.update([state]);
  }

  async #collect(state: RowState): Promise<void> {
    const { end } = this.context;
    const account = this.#findAccount(state);
    const { status } = state;
    if (state.standing === "done") return this.#checkLater(state);
    if (status === "COMPLETED") return this.#keep(state);
    const why =
      status === "FAILED"
        ? await explainNoResult(buildRequestTarget(state, account), status, { signal: end })
        : undefined;
    this.#end(state, why ? { error: this.context.describe(why) } : {});
  }

  async #keep(state: RowState): Promise<void> {
    const { folder, end, noMoreCreates, format, check, checkSources, progress, emit, noteOf } = this.context;
    try {
      const result = await this.#fetch(state);
      const file = `${state.stem}.${typeof result.value === "string" ? "md" : "json"}`;
      folder.write(file, format(result));
      const message = await check(result, state, end);
      if (message !== undefined) emit({ kind: "schema-mismatch", state, message });
      progress.update(state, { check: await checkSources?.(state, result) });
      this.#end(state, { file, ...(noteOf && { note: noteOf(result) }) });
      this.#recordCheck(state);
    } catch (error) {
      end.throwIfAborted();
      const expected = [UnreachableError, RefusedError, NoOutputError, LocalError];
      if (!expected.some((kind) => error instanceof kind)) throw error;
      if (error instanceof NoOutputError && error.status === "FAILED") {
        // Some services report only in the answer to a fetch whether there is a result.
        progress.update(state, { status: "FAILED", cutShort: error.data && isResultCutShort(error.data) });
        this.#end(state, { error: this.context.describe(error) });
        return;
      }
      giveUpRow(this.context, state, error);
      // The same error would prevent every further result from being written.
      if (error instanceof LocalError) noMoreCreates.abort(error);
    }
  }

  /** Checks the sources of a result that an earlier command wrote. */
  async #checkLater(state: RowState): Promise<void> {
    const { progress, checkSources, emit } = this.context;
    const check = await checkSources?.(state, undefined);
    if (!check) return;
    progress.update(state, { check });
    this.noteCheck(state);
    emit({ kind: "row", state, final: true });
  }

  #recordCheck({ row, check }: RowState): void {
    if (check)
      this.context.folder.record({
        kind: "checked",
        row: row.id,
        check,
        at: formatCurrentTime(this.context),
      });
  }

  #findAccount({ lane }: RowState): Account {
    return (lane ?? this.context).account;
  }

  /** Fetches the result of a row. Waits during an outage of the service, as a watch does. */
  async #fetch(state: RowState): Promise<Result> {
    const { end: signal, patience, emit } = this.context;
    const account = this.#findAccount(state);
    const { clock } = account;
    const giveUpAt = clock.monotonic() + patience;
    for (let isFirst = true; ; isFirst = false) {
      try {
        const schema = state.row.body.output_schema;
        return await fetchResult(buildRequestTarget(state, account), { signal, schema });
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = computeFetchRetryWait(error);
        if (waitMs === undefined || clock.monotonic() >= giveUpAt) throw error;
        if (isFirst) emit({ kind: "trouble", activity: "fetch", error: error as UnreachableError, state });
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** Records the end of a row, in the journal first: after a crash the other files are completed from the journal. */
  #end(state: RowState, details: { file?: string; error?: RowError; note?: unknown }): void {
    const { progress, folder, emit } = this.context;
    const status = state.status ?? "";
    const at = formatCurrentTime(this.context);
    const cost = { cut_short: state.cutShort || undefined, cost_dollars: state.costDollars };
    folder.record({ kind: "ended", row: state.row.id, status, ...details, ...cost, at });
    const standing = status === "COMPLETED" ? "done" : status === "STOPPED" ? "stopped" : "failed";
    const { file, error, note } = details;
    progress.update(state, { standing, file, error, note, endedAt: at, end: undefined });
    folder.results.add(state);
    emit({ kind: "row", state, final: true });
  }
}

/** Returns the target for a row's existing request, with the origin that created the request. */
export function buildRequestTarget(
  { requestId = "", createdAt = null, sentAt = "", status, origin = "", profile = null, end }: RowState,
  account: Account,
): Target {
  const seen = { request_id: requestId, status: status ?? "", created_at: createdAt, sent_at: sentAt };
  const path = origin === account.origin ? { base_path: account.basePath || undefined } : {};
  return { requestId, entry: { ...seen, origin, ...path, profile }, account, end };
}

/** Returns after how many milliseconds to fetch a result again; undefined if another attempt would not help. */
function computeFetchRetryWait(error: unknown): number | undefined {
  if (error instanceof UnreachableError) return RETRY_MS;
  const isLimited = error instanceof RefusedError && error.kind === "rate-limited";
  return isLimited ? Math.max(capPollWait((error.retryAfter ?? 0) * 1_000), RETRY_MS) : undefined;
}

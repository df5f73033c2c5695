import { join } from "node:path";
import { checkRequest } from "../app/check-report.js";
import { describeFailure } from "../app/describe-failure.js";
import { openBatch, ROW_FORMS } from "../app/open-batch.js";
import { ProfileAccount } from "../app/profile-account.js";
import { addProviderOptions, buildCheckedBody } from "../app/provider-options.js";
import { createKeyFileReader } from "../app/resolve-settings.js";
import { checkStatusFilter } from "../app/status-filter.js";
import { ResearchError } from "../client/calls/errors.js";
import type { CallOptions, StatusData } from "../client/calls/research-client.js";
import type { WatchOptions } from "../client/calls/watch/watch-types.js";
import { computeRowDigest } from "../client/store/history/equal-creates.js";
import { submitWithFallback } from "../client/workflows/account-fallback.js";
import type { BatchRunEvent } from "../client/workflows/batch/batch-context.js";
import { type BatchRow, buildRowId } from "../client/workflows/batch/batch-row.js";
import type { RowState } from "../client/workflows/batch/plan-rows.js";
import { BatchRunner } from "../client/workflows/batch/run-batch.js";
import { explainNoResult, fetchResult } from "../client/workflows/fetch-results.js";
import {
  findTarget,
  readFinalState,
  stopRequests,
  type Target,
} from "../client/workflows/find-and-query-requests.js";
import { followRequests } from "../client/workflows/follow-requests.js";
import { systemClock } from "../core/clock.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import { type CreateBody, isFinal } from "../core/protocol/conversation.js";
import { AbortedError, SchemaMismatchError } from "./errors.js";
import { runWithChecker } from "./run-with-checker.js";
import type {
  BatchEvent,
  BatchOptions,
  BatchRequest,
  BatchRequests,
  CheckReportOptions,
  ListedRequest,
  ListOptions,
  OpenOptions,
  OutputOptions,
  Research,
  ResearchRequest,
  RunOptions,
  Submission,
  SubmitOptions,
} from "./types.js";

const DEFAULT_LIMIT = 20;

export class ResearchImplementation implements Research {
  readonly #closing = new AbortController();

  private constructor(
    private readonly options: OpenOptions,
    private readonly account: ProfileAccount,
  ) {}

  /** Opens the account of these options. Waits only while another program writes the key file. */
  static async open(options: OpenOptions): Promise<ResearchImplementation> {
    const { env = process.env, ...choices } = options;
    const readKey = await createKeyFileReader(env, systemClock, new AbortController().signal);
    const account = new ProfileAccount({
      ...{ env, platform: process.platform, clock: systemClock, choices, readKey },
      onNotice: (code, text) => code === "SETTINGS_MADE_PRIVATE" && process.emitWarning(text),
    });
    return new ResearchImplementation(options, account);
  }

  async submit(request: ResearchRequest | string, options: SubmitOptions = {}): Promise<Submission> {
    const signal = this.#abortWhenClosed(options.signal);
    const body = await this.#buildBody(request, signal);
    const wanted = { account: this.account, body, limit: this.account.getHourlyLimit(this.options) };
    const { submitted } = await submitWithFallback([wanted], { ...options, signal });
    const { data, localId, notSaved } = submitted;
    return { requestId: data.request_id, localId, data, notSaved };
  }

  async *watch(ids: string | readonly string[], options: WatchOptions = {}) {
    const targets = [ids].flat().map((id) => findTarget(this.account, id));
    yield* followRequests(targets, { ...options, signal: this.#abortWhenClosed(options.signal) });
  }

  async output<Output>(id: string, options: OutputOptions<Output> = {}): Promise<Output> {
    return await this.#readResult(findTarget(this.account, id), options);
  }

  async #readResult<Output>(target: Target, { schema, signal }: OutputOptions<Output>): Promise<Output> {
    const { value } = await fetchResult(target, { signal });
    // Without a schema, the caller's type parameter determines the type.
    if (!schema) return value as Output;
    const result = await schema["~standard"].validate(value);
    if (!result.issues) return result.value;
    const issues = result.issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((step) => (typeof step === "object" ? step.key : step)),
    }));
    throw new SchemaMismatchError(target.requestId, issues);
  }

  async run<Output>(request: ResearchRequest | string, options: RunOptions<Output> = {}): Promise<Output> {
    const { signal, timeout, onCreated } = options;
    const submission = await this.submit(request, options);
    const { requestId } = submission;
    try {
      await onCreated?.(submission);
      const limits = { answered: true, ...(timeout !== undefined && { timeout }) };
      const target = { ...findTarget(this.account, requestId), end: readFinalState(submission.data) };
      for await (const event of followRequests([target], {
        ...limits,
        signal: this.#abortWhenClosed(signal),
      })) {
        if (event.kind === "given-up") throw event.error;
        if (event.kind === "timeout")
          throw new ResearchError("TIMEOUT", `${requestId} has not ended within ${timeout} ms`, {
            requestId,
          });
        if (event.kind === "state" && isFinal(event.status) && event.status !== "COMPLETED")
          throw await explainNoResult(target, event.status, { signal });
      }
      return await this.#readResult(target, options);
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? new AbortedError(requestId, error) : error;
    }
  }

  async check(id: string, options: CheckReportOptions = {}): Promise<CheckOutcome> {
    const signal = this.#abortWhenClosed(options.signal);
    const target = findTarget(this.account, id);
    return await runWithChecker(this.account, { ...options, signal }, (checker, limits) =>
      checkRequest(checker, target, limits),
    );
  }

  async stop(ids: string | readonly string[], options: CallOptions = {}): Promise<StatusData[]> {
    const account = this.account;
    const targets = [ids].flat().map((id) => findTarget(account, id));
    const stopped: StatusData[] = [];
    let failure: { error: unknown } | undefined;
    for await (const answer of stopRequests(targets, options)) {
      if (answer.kind === "answered") stopped.push(answer.data);
      else failure ??= answer;
    }
    if (failure) throw failure.error;
    return stopped;
  }

  async list({ limit = DEFAULT_LIMIT, status }: ListOptions = {}): Promise<ListedRequest[]> {
    await checkStatusFilter(status, this.account.history);
    const entries = this.account.history?.list({ limit, status }) ?? [];
    return entries.map(({ local_id, request_id, status, created_at, sent_at, origin, prompt }) => ({
      ...{ localId: local_id, requestId: request_id, status, createdAt: created_at, sentAt: sent_at },
      ...{ origin, prompt },
    }));
  }

  async *batch(
    requests: BatchRequests,
    { out, timeout, retryFailed = false, ...options }: BatchOptions,
  ): AsyncGenerator<BatchEvent, void> {
    const signal = this.#abortWhenClosed(options.signal);
    const rows = await buildBatchRows(requests, (request) => this.#buildBody(request, signal));
    const limit = this.account.getHourlyLimit(this.options);
    const job = await openBatch(this.account, rows, { out, limit, retryFailed });
    const { states, folder } = job;
    try {
      const limits = { ...ROW_FORMS, signal, timeout };
      for await (const event of new BatchRunner(job, limits).run()) {
        const seen = convertBatchEvent(event, states, folder.path);
        if (seen) yield seen;
      }
    } finally {
      folder.close();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new ResearchError("INTERRUPTED", "close() was called"));
    await this.account.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns a signal that is aborted with `signal` or by close(), so that no abandoned watch or wait keeps the process alive. */
  #abortWhenClosed(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
  }

  async #buildBody(request: ResearchRequest | string, signal: AbortSignal): Promise<CreateBody> {
    const { prompt, context, schema, model, options } =
      typeof request === "string" ? ({ prompt: request } as ResearchRequest) : request;
    const body = await buildCheckedBody(prompt, schema, signal);
    const given = { ...(model !== undefined && { model }), ...(options && { options }) };
    const { extractContextFiles } = context?.length ? await import("../app/context-files.js") : {};
    const files = await extractContextFiles?.(context ?? [], systemClock, signal);
    return addProviderOptions(this.account, { ...body, ...given, ...(files && { context: files }) }, {});
  }
}

/** Converts an error for users of the library, with one of our codes. Does not change errors with a code, aborts and defects. */
export function convertToResearchError(error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof ResearchError || (signal?.aborted && error === signal.reason)) return error;
  const { code, message, request_id: requestId, retry_after: retryAfter, hint } = describeFailure(error);
  if (code === "INTERNAL") return error;
  const coded = new ResearchError(code, message, { requestId, retryAfter, hint });
  coded.cause = error;
  return coded;
}

/** Builds the rows of a batch. Throws TypeError for an invalid request, or for a key that occurs twice. */
async function buildBatchRows(
  requests: BatchRequests,
  bodyOf: (request: BatchRequest | string) => Promise<CreateBody>,
): Promise<BatchRow[]> {
  const rows: BatchRow[] = [];
  const counts = new Map<string, number>();
  for await (const request of requests) {
    const key = typeof request === "string" ? undefined : request.key;
    const body = await bodyOf(request);
    const digest = computeRowDigest(body);
    const nth = (counts.get(key === undefined ? digest : `key:${key}`) ?? 0) + 1;
    if (key !== undefined && nth > 1) throw new TypeError(`two requests have the key ${JSON.stringify(key)}`);
    counts.set(key === undefined ? digest : `key:${key}`, nth);
    rows.push({ id: buildRowId(key, digest, nth), key, line: rows.length + 1, body, digest });
  }
  return rows;
}

/** Converts an event for users of the library; undefined for an internal event. */
function convertBatchEvent(
  event: BatchRunEvent,
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

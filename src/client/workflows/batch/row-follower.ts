import { formatExactDuration } from "../../../core/text/time-format.js";
import { ResearchError } from "../../calls/errors.js";
import type { StateChange } from "../../calls/watch/watch-types.js";
import { isResultCutShort } from "../../dialects/providers.js";
import type { Account } from "../account.js";
import { findProviderEnd } from "../fetch-results.js";
import type { Target } from "../find-and-query-requests.js";
import { type FollowEvent, followAtAccount } from "../follow-requests.js";
import { AsyncQueue } from "./async-queue.js";
import { type BatchContext, giveUpRow } from "./batch-context.js";
import type { RowState } from "./plan-rows.js";
import { buildRequestTarget, type ResultCollector } from "./result-collector.js";

/** Follows all rows that run at one account in one watch, including rows that are added later. */
export class RowFollower {
  readonly #running = new AsyncQueue<Target>();
  readonly #byId = new Map<string, RowState>();

  constructor(
    private readonly context: BatchContext,
    private readonly account: Account,
    private readonly collector: ResultCollector,
  ) {}

  /** Adds a row whose request exists. */
  add(state: RowState): void {
    const { requestId } = state;
    // The id may have been in a torn line of the journal.
    if (requestId === undefined) return;
    this.#byId.set(requestId, state);
    const target = buildRequestTarget(state, this.account);
    const end = state.end ?? findProviderEnd(target);
    if (end) this.#handleChange({ requestId, status: end.status, final: true, data: end });
    else this.#running.push(target);
  }

  /** Notes that no more rows will be added. */
  close(): void {
    this.#running.close();
  }

  /** Resolves when every row has ended or was given up. */
  async run(): Promise<void> {
    const { end: signal, timeout = 0, interval, patience } = this.context;
    // The service has answered the create call of every row, so a failed first poll means an outage.
    const options = { signal, timeout, interval, patience, answered: true };
    for await (const event of followAtAccount(this.account, this.#running, options)) this.#apply(event);
  }

  #apply(event: FollowEvent): void {
    const { emit, timeout = 0 } = this.context;
    const { kind } = event;
    if (kind === "state") this.#handleChange(event);
    else if (kind === "given-up") this.#leave(event.requestId, event.error);
    else if (kind === "timeout") {
      const { requestId } = event;
      const limit = formatExactDuration(timeout);
      const late = new ResearchError("TIMEOUT", `${requestId} is not finished after ${limit}`, { requestId });
      this.#leave(requestId, late);
    } else if (kind === "trouble") emit({ kind, activity: "poll", error: event.error });
    else if (kind === "recovered") emit({ kind });
    else if (kind !== "progress") emit(event);
  }

  #handleChange({
    requestId,
    status,
    final,
    data,
  }: Pick<StateChange, "requestId" | "status" | "final" | "data">): void {
    const { progress, emit } = this.context;
    const state = this.#byId.get(requestId) as RowState;
    const isNew = status !== state.status;
    const { cost_dollars: cost } = data;
    progress.update(state, {
      status,
      cutShort: isResultCutShort(data),
      costDollars: typeof cost === "number" ? cost : undefined,
    });
    if (final) this.collector.add(state);
    else if (isNew) emit({ kind: "row", state, final: false });
  }

  #leave(requestId: string, error: unknown): void {
    giveUpRow(this.context, this.#byId.get(requestId) as RowState, error);
  }
}

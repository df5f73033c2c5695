import { ResearchError } from "../../client/errors.js";
import type { LocalError } from "../../store/files.js";
import type { LimitLesson } from "./create-pacer.js";
import type { RowState } from "./plan.js";

/** What happens in a batch, in the order it happens. Times are epoch milliseconds, waits milliseconds. */
export type BatchEvent =
  /** A row has another state; `final` if it is over for good. A row with an error is over for this command. */
  | { kind: "row"; state: RowState; final: boolean }
  /** A create was refused, or its outcome is unknown. A `row` event follows. */
  | { kind: "create-failed"; state: RowState; error: unknown }
  /** A row was given up or its result could not be kept; it goes on at the service. A `row` event follows. */
  | { kind: "row-left"; state: RowState; error: unknown }
  /** The request exists, and neither the journal nor the history may have its id. */
  | { kind: "not-saved"; state: RowState; error: LocalError }
  /** The result was kept, and does not fit the row's schema. */
  | { kind: "schema-mismatch"; state: RowState; message: string }
  /** No create is sent before `until`. */
  | { kind: "waiting-for-quota"; until: number }
  /** A 429 came although no limit was known. */
  | { kind: "limit-learned"; lesson: LimitLesson }
  /** Creates, polls or fetches fail, and are repeated. `state`: the row whose result is fetched again. */
  | { kind: "trouble"; activity: "create" | "poll" | "fetch"; error: ResearchError; state?: RowState }
  | { kind: "recovered" }
  | { kind: "asked-to-wait"; waitMs: number }
  /** Nothing has changed for a long time. */
  | { kind: "unchanged" }
  /** A row waits for somebody, or has long been in a state that is not known. */
  | { kind: "stuck"; requestId: string; word: string; waitsForSomebody: boolean }
  /** A state could not be recorded in the history; nothing depends on that. */
  | { kind: "history-not-updated"; error: LocalError }
  /** No more creates are sent: too many rows failed, or of `error`. What runs is watched to its end. */
  | { kind: "creates-stopped"; reason: { failures: number } | { error: unknown } };

/** A row was not finished, or not taken up, within its time; it goes on at the service. */
export class RowTimeoutError extends ResearchError {
  /** `queue`: the limit for being PENDING. `timeoutMs`: the limit in milliseconds. */
  constructor(
    requestId: string,
    readonly limit: "whole" | "queue",
    readonly timeoutMs: number,
  ) {
    super("TIMEOUT", `${requestId} has not ended within ${timeoutMs} ms`, { requestId });
  }
}

/** The next create is allowed later than a row may take, so no row is sent any more. */
export class SlotTimeoutError extends ResearchError {
  /** `timeoutMs`: the limit in milliseconds. `until`: when the next create is allowed, epoch ms. */
  constructor(
    readonly timeoutMs: number,
    readonly until: number,
  ) {
    super("TIMEOUT", `no create is allowed within ${timeoutMs} ms`);
  }
}

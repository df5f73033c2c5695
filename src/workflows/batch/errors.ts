import { ResearchError } from "../../client/errors.js";

/** A row was not finished, or not taken up, within its time; it goes on at the service. */
export class RowTimeoutError extends ResearchError {
  /** `queue`: the limit for being PENDING. */
  readonly limit: "whole" | "queue";
  /** The limit in milliseconds. */
  readonly timeoutMs: number;

  constructor(requestId: string, limit: "whole" | "queue", timeoutMs: number) {
    super("TIMEOUT", `${requestId} has not ended within ${timeoutMs} ms`, { requestId });
    this.limit = limit;
    this.timeoutMs = timeoutMs;
  }
}

/** The next create is allowed later than a row may take, so no row is sent any more. */
export class SlotTimeoutError extends ResearchError {
  /** The limit in milliseconds. */
  readonly timeoutMs: number;
  /** When the next create is allowed, epoch ms. */
  readonly until: number;

  constructor(timeoutMs: number, until: number) {
    super("TIMEOUT", `no create is allowed within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
    this.until = until;
  }
}

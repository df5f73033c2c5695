import type { UnreachableError } from "../../client/errors.js";
import type { Clock } from "../../clock.js";
import type { Report } from "./report.js";

/** The first pause after a create that could not be sent, and the longest, in milliseconds. */
const PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 30_000;

/** A service that answered a minute ago is having an outage, which is borne; one that never did is a wrong setting. */
export class Outage {
  readonly #clock: Clock;
  readonly #report: Report;
  readonly #patience: number;
  /** Since when (monotonic ms) nothing could be sent. */
  #since: number | undefined;
  #hasAnswered = false;

  /** `patience`: milliseconds for which an outage is borne. */
  constructor(clock: Clock, report: Report, patience: number) {
    this.#clock = clock;
    this.#report = report;
    this.#patience = patience;
  }

  /** The service has answered. */
  async over(): Promise<void> {
    this.#hasAnswered = true;
    if (this.#since === undefined) return;
    this.#since = undefined;
    await this.#report.notice("RECOVERED", "the service answers again");
  }

  /** Waits before the next try. Throws `error` where there is none. */
  async bear(error: UnreachableError, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#since === undefined) {
      this.#since = now;
      if (this.#hasAnswered) await this.#report.notice("TROUBLE", `${error.message}; sending is tried again`);
    }
    const lasting = now - this.#since;
    if (!this.#hasAnswered || lasting >= this.#patience) throw error;
    await this.#clock.sleep(Math.min(Math.max(lasting, PAUSE_MS), LONGEST_PAUSE_MS), signal);
  }
}

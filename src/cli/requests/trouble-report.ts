import type { ResearchError } from "../../client/errors.js";
import type { WatchEvent } from "../../client/watch/types.js";
import type { Clock } from "../../clock.js";
import { formatDuration, isoDate } from "../../text/duration.js";
import { SILENT_WAIT_MS } from "../context.js";
import type { Reporter } from "../terminal/reporter.js";

/** Within a trouble, a wait is announced if it is longer than a watch is silent otherwise, in milliseconds. */
const LONG_WAIT_MS = 300_000;

type TroubleEvent = Extract<WatchEvent, { kind: "trouble" | "recovered" | "asked-to-wait" }>;

/** Says when polls begin to fail and when they succeed again, once each. */
export class TroubleReport {
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  /** The error that the trouble of the moment, or the last one, began with. */
  #first: unknown;

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter;
    this.#clock = clock;
  }

  async show(event: TroubleEvent): Promise<void> {
    switch (event.kind) {
      case "trouble":
        this.#first = event.error;
        return this.#reporter.notice("TROUBLE", troubleLine(event.error, this.#clock.now()));
      case "recovered": {
        const elapsed = formatDuration(event.elapsedMs);
        return this.#reporter.notice("RECOVERED", `the service answers again, ${elapsed} into this watch`);
      }
      case "asked-to-wait":
        // The line that began the trouble has said the first wait.
        if (event.error === this.#first || event.waitMs <= LONG_WAIT_MS) return;
        return this.#reporter.notice("WAITING", waitLine(event.waitMs, this.#clock.now()));
    }
  }
}

/** The beginning of a trouble, with the wait that the service asks for. `now` is epoch milliseconds. */
function troubleLine(error: ResearchError, now: number): string {
  const waitMs = (error.retryAfter ?? 0) * 1_000;
  const when = waitMs > SILENT_WAIT_MS ? ` in ${withEnd(waitMs, now)}` : "";
  return `${error.message.replace(/\.$/, "")}; polling goes on${when}`;
}

/** A wait that the service asks for. */
function waitLine(waitMs: number, now: number): string {
  return `the service asked to wait ${withEnd(waitMs, now)}`;
}

function withEnd(waitMs: number, now: number): string {
  return `${formatDuration(waitMs)} (until ${isoDate(now + waitMs)})`;
}

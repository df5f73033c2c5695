import type { WatchEvent } from "../../client/watch/types.js";
import type { Clock } from "../../clock.js";
import { formatDuration } from "../terminal/durations.js";
import type { Reporter } from "../terminal/reporter.js";
import { troubleLine, waitLine } from "./trouble-text.js";

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

import type { Clock } from "../../clock.js";
import type { Moment, WatchEvent } from "./types.js";

/** Milliseconds without a change after which a watch says that nothing has changed. */
const UNCHANGED_MS = 300_000;

/** The events that a watch has yet to yield, and the times that stand in them. */
export class EventQueue {
  readonly #clock: Clock;
  readonly #start: number;
  #events: WatchEvent[] = [];
  #lastChange: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#start = clock.monotonic();
    this.#lastChange = this.#start;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** When the next `unchanged` is due, in monotonic milliseconds. */
  get unchangedAt(): number {
    return this.#lastChange + UNCHANGED_MS;
  }

  /** Now, as events have it. */
  moment(): Moment {
    return { at: this.#clock.now(), elapsedMs: this.#clock.monotonic() - this.#start };
  }

  add(event: WatchEvent): void {
    if (event.kind === "state") this.#lastChange = this.#clock.monotonic();
    this.#events.push(event);
  }

  /** Adds an `unchanged` if one is due. */
  addUnchanged(): void {
    if (this.#clock.monotonic() < this.unchangedAt) return;
    this.#lastChange = this.#clock.monotonic();
    this.add({ kind: "unchanged", elapsedMs: this.moment().elapsedMs });
  }

  /** Removes and returns the events that were added. */
  takeAll(): WatchEvent[] {
    return this.#events.splice(0);
  }
}

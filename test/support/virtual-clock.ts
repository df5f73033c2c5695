// What is loaded when a command is named, and with the first request, takes real time in which virtual time must not pass.
import "../../src/cli/commands/batch/run.js";
import "../../src/cli/commands/compare/run.js";
import "../../src/client/calls/watch/watch-requests.js";
import "../../src/core/http/origin-connections.js";
import "../../src/core/http/send-request.js";
import { type Clock, systemClock } from "../../src/core/clock.js";
import { loadDispatcherMethods } from "../../src/core/http/undici.js";
import { quiet } from "./quiet.js";

await loadDispatcherMethods();

/** The system's clock, whose monotonic time a test can put ahead: for what looks at the age of something. */
export function movableClock(): { clock: Clock; pass: (ms: number) => void } {
  let ahead = 0;
  return {
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + ahead },
    pass: (ms) => {
      ahead += ms;
    },
  };
}

interface Sleeper {
  /** On the monotonic clock. */
  at: number;
  wake: () => void;
}

/** As on the real clock: a jump of the wall by more than this is taken for a suspended machine. */
const SUSPEND_MS = 5_000;

/**
 * A clock whose time passes only while everything waits for it: the earliest sleeper is woken as soon as the
 * process is quiet (see quiet.ts). Client, service and command in one process share one, and hours pass in
 * the time their requests take.
 */
export class VirtualClock implements Clock {
  #wall: number;
  #monotonic = 1_000_000;
  readonly #sleepers: Sleeper[] = [];
  #running = false;
  #holds = 0;

  /** `start` is epoch milliseconds. */
  constructor(start = Date.UTC(2030, 0, 1)) {
    this.#wall = start;
  }

  now = (): number => this.#wall;

  monotonic = (): number => this.#monotonic;

  sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!(ms > 0)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#remove(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const sleeper = { at: this.#monotonic + ms, wake };
      signal?.addEventListener("abort", abort, { once: true });
      const later = this.#sleepers.findIndex(({ at }) => at > sleeper.at);
      this.#sleepers.splice(later < 0 ? this.#sleepers.length : later, 0, sleeper);
      void this.#run();
    });
  };

  /** The machine sleeps: wall time jumps by `ms` (back, where negative), and long jumps end every sleep early. */
  suspend(ms: number): void {
    this.#wall += ms;
    if (ms <= SUSPEND_MS) return;
    for (const sleeper of this.#sleepers.splice(0)) sleeper.wake();
  }

  /** Keeps time from passing until the returned function is called: while something works that is no request. */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      void this.#run();
    };
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#mayAdvance()) {
      await quiet();
      const next = this.#mayAdvance() ? this.#sleepers.shift() : undefined;
      if (!next) continue;
      const passed = Math.max(next.at - this.#monotonic, 0);
      this.#monotonic += passed;
      this.#wall += passed;
      next.wake();
    }
    this.#running = false;
  }

  #mayAdvance(): boolean {
    const first = this.#sleepers[0];
    return first !== undefined && first.at < Number.POSITIVE_INFINITY && this.#holds === 0;
  }

  #remove(sleeper: Sleeper): void {
    const index = this.#sleepers.indexOf(sleeper);
    if (index >= 0) this.#sleepers.splice(index, 1);
  }
}

/** Time as the program sees it; tests hand in one that they move themselves. All figures are milliseconds. */
export interface Clock {
  /** Wall-clock time since the epoch: for dates, windows of the service, and nothing that measures. */
  now(): number;
  /** Time that never jumps and has no fixed origin: for durations and deadlines. */
  monotonic(): number;
  /**
   * Waits `ms` on the monotonic clock, and resolves early where the machine itself slept meanwhile, so that
   * a caller looks at the world again. Rejects with `signal.reason` when the signal is aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** One timer's length. A timer over 2^31 ms fires at once; a second is also how soon a suspend is noticed. */
const SLICE_MS = 1_000;
/** A wall clock this far ahead of the monotonic one after a slice means that the machine slept. */
const SUSPEND_MS = 5_000;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      const wall = Date.now();
      const start = performance.now();
      await timer(Math.min(left, SLICE_MS), signal);
      if (Date.now() - wall - (performance.now() - start) > SUSPEND_MS) return;
    }
  },
};

/** A date from outside as epoch milliseconds; undefined for what is none. */
export function epochOf(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

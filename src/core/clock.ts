/** The program's source of time; tests pass a clock that they advance themselves. All values are in milliseconds. */
export interface Clock {
  /** Wall-clock time since the epoch: for dates and rate-limit windows, never to measure a duration. */
  now(): number;
  /** Milliseconds since an arbitrary moment, never set back or forward: for durations and deadlines. */
  monotonic(): number;
  /** Waits `ms` on the monotonic clock, or less if the machine was suspended meanwhile. Rejects with `signal.reason`. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay of a timer, ms; Node fires a timer with a longer one at once. */
const LONGEST_MS = 2 ** 31 - 1;
/** How often to check for a suspend, ms. A suspend does not end a shorter sleep early. */
const BEAT_MS = 1_000;
/** The machine was suspended if the wall clock advanced this much more than the monotonic clock since the last check, ms. */
const SUSPEND_MS = 5_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    const end = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = end - performance.now()) {
      if ((await sleepOrSuspend(Math.min(leftMs, LONGEST_MS), signal)) === "suspended") return;
    }
  },
};

/** Parses a date from outside into epoch milliseconds; undefined if it is not a valid date. */
export function parseEpochMs(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Runs `work` and returns its result. Its signal is aborted with `late` after `ms`, or with the reason of `signal`. Each call
 * of `restart` restarts the time.
 */
export async function runWithDeadline<T>(
  clock: Pick<Clock, "sleep" | "monotonic">,
  ms: number,
  signal: AbortSignal,
  late: Error,
  work: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  const timer = new AbortController();
  const done = new AbortController();
  let end = clock.monotonic() + ms;
  const restart = () => {
    end = clock.monotonic() + ms;
  };
  const expire = async () => {
    // A sleep may end early if the machine was suspended, so check the time again.
    while (clock.monotonic() < end) await clock.sleep(end - clock.monotonic(), done.signal);
    timer.abort(late);
  };
  expire().catch(() => {});
  try {
    return await work(AbortSignal.any([signal, timer.signal]), restart);
  } finally {
    done.abort();
  }
}

function sleepOrSuspend(ms: number, signal?: AbortSignal): Promise<"over" | "suspended"> {
  return new Promise((resolve, reject) => {
    let release = () => {};
    const end = (settle: () => void) => () => {
      clearTimeout(handle);
      release();
      leave();
      settle();
    };
    const resolveOver = end(() => resolve("over"));
    const resolveSuspended = end(() => resolve("suspended"));
    const aborted = end(() => reject(signal?.reason));
    const handle = setTimeout(resolveOver, ms);
    const leave = wakeAfterSuspend(ms, resolveSuspended);
    release = onAbort(signal, aborted);
  });
}

/** The functions that end the sleeps of at least BEAT_MS after a suspend, and their shared timer. */
const sleepers = new Set<() => void>();
let beat: NodeJS.Timeout | undefined;

function wakeAfterSuspend(ms: number, wake: () => void): () => void {
  if (ms < BEAT_MS) return () => {};
  beat ??= startSuspendDetector();
  sleepers.add(wake);
  return () => {
    sleepers.delete(wake);
    if (sleepers.size > 0) return;
    clearInterval(beat);
    beat = undefined;
  };
}

function startSuspendDetector(): NodeJS.Timeout {
  let [wall, monotonic] = [Date.now(), performance.now()];
  return setInterval(() => {
    const suspendedMs = Date.now() - wall - (performance.now() - monotonic);
    [wall, monotonic] = [Date.now(), performance.now()];
    if (suspendedMs > SUSPEND_MS) for (const wake of [...sleepers]) wake();
  }, BEAT_MS);
}

/** The listeners of each signal. The signal itself has only one listener, which calls these. */
const WAITING = new WeakMap<AbortSignal, (() => void)[]>();

/**
 * Calls `listener` when `signal` is aborted, or at once if it already is. Returns a function that removes the listener. For
 * signals that get thousands of listeners over time: Node's own list and a Set keep removed listeners in old tables for
 * long, which makes garbage collection slow.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  if (!signal || signal.aborted) return () => {};
  const waiting = WAITING.get(signal) ?? getAbortListeners(signal);
  waiting.push(listener);
  return () => {
    const at = waiting.indexOf(listener);
    if (at >= 0) waiting.splice(at, 1);
  };
}

function getAbortListeners(signal: AbortSignal): (() => void)[] {
  const waiting: (() => void)[] = [];
  WAITING.set(signal, waiting);
  const tell = () => {
    for (const listener of [...waiting]) listener();
  };
  signal.addEventListener("abort", tell, { once: true });
  return waiting;
}

/** Waits for `work`. Rejects with `signal.reason` as soon as the signal is aborted, although the work itself continues. */
export async function waitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let release = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    release = onAbort(signal, () => reject(signal?.reason));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    release();
  }
}

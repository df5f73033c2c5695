/** Time as the program sees it; tests hand in one that they move themselves. All figures are milliseconds. */
export interface Clock {
  /** Wall-clock time since the epoch: for dates, windows of the service, and nothing that measures. */
  now(): number;
  /** Time that never jumps and has no fixed origin: for durations and deadlines. */
  monotonic(): number;
  /** Waits `ms` on the monotonic clock; ends early after a suspend of the machine. Rejects with `signal.reason`. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A longer timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;
/** How soon a suspend is noticed; no shorter sleep is ended by one. */
const BEAT_MS = 1_000;
/** A wall clock this far ahead of the monotonic one after a beat means that the machine slept. */
const SUSPEND_MS = 5_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      if ((await startTimer(Math.min(left, LONGEST_MS), signal)) === "suspended") return;
    }
  },
};

/** A date from outside as epoch milliseconds; undefined if it is not a valid date. */
export function parseEpoch(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Does `work` for at most `ms`, counted anew from each call of `restart`. Its signal is aborted with `late` when the time is
 * over, or with the reason of `signal`.
 */
export async function runWithDeadline<T>(
  clock: Pick<Clock, "sleep" | "monotonic">,
  ms: number,
  signal: AbortSignal,
  late: Error,
  work: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  const timer = new AbortController();
  const ended = new AbortController();
  let end = clock.monotonic() + ms;
  const restart = () => {
    end = clock.monotonic() + ms;
  };
  const expire = async () => {
    // A sleep may end early where the machine itself slept.
    while (clock.monotonic() < end) await clock.sleep(end - clock.monotonic(), ended.signal);
    timer.abort(late);
  };
  expire().catch(() => {});
  try {
    return await work(AbortSignal.any([signal, timer.signal]), restart);
  } finally {
    ended.abort();
  }
}

function startTimer(ms: number, signal?: AbortSignal): Promise<"over" | "suspended"> {
  return new Promise((resolve, reject) => {
    let release = () => {};
    const end = (settle: () => void) => () => {
      clearTimeout(handle);
      release();
      leave();
      settle();
    };
    const over = end(() => resolve("over"));
    const suspended = end(() => resolve("suspended"));
    const aborted = end(() => reject(signal?.reason));
    const handle = setTimeout(over, ms);
    const leave = joinSleepers(ms, suspended);
    release = onAbort(signal, aborted);
  });
}

/** What ends each long sleep when the machine was suspended, and the one timer that notices. */
const sleepers = new Set<() => void>();
let beat: NodeJS.Timeout | undefined;

function joinSleepers(ms: number, wake: () => void): () => void {
  if (ms < BEAT_MS) return () => {};
  beat ??= startBeat();
  sleepers.add(wake);
  return () => {
    sleepers.delete(wake);
    if (sleepers.size > 0) return;
    clearInterval(beat);
    beat = undefined;
  };
}

function startBeat(): NodeJS.Timeout {
  let [wall, monotonic] = [Date.now(), performance.now()];
  return setInterval(() => {
    const suspendedMs = Date.now() - wall - (performance.now() - monotonic);
    [wall, monotonic] = [Date.now(), performance.now()];
    if (suspendedMs > SUSPEND_MS) for (const wake of [...sleepers]) wake();
  }, BEAT_MS);
}

/** Who waits for a signal; the signal itself knows of one listener only. */
const WAITING = new WeakMap<AbortSignal, (() => void)[]>();

/**
 * Calls `listener` when `signal` is aborted, at once if it already is; returns what takes it back. Made for a signal
 * with thousands of listeners over its life: Node's own list and a Set keep removed ones in their old tables for long,
 * which makes garbage collection slow.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  if (!signal || signal.aborted) return () => {};
  const waiting = WAITING.get(signal) ?? listListeners(signal);
  waiting.push(listener);
  return () => {
    const at = waiting.indexOf(listener);
    if (at >= 0) waiting.splice(at, 1);
  };
}

function listListeners(signal: AbortSignal): (() => void)[] {
  const waiting: (() => void)[] = [];
  WAITING.set(signal, waiting);
  const tell = () => {
    for (const listener of [...waiting]) listener();
  };
  signal.addEventListener("abort", tell, { once: true });
  return waiting;
}

/** `work`, or a rejection with `signal.reason` as soon as the signal is aborted; the work itself goes on then. */
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

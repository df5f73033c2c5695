import type { Clock } from "../../../../clock.js";

/**
 * Does `work` for at most `ms` milliseconds of the clock. Its signal is aborted when the time is over, with `late`
 * as its reason, or when `signal` is, with that one's reason.
 */
export async function within<T>(
  clock: Pick<Clock, "sleep" | "monotonic">,
  ms: number,
  signal: AbortSignal,
  late: Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = new AbortController();
  const ended = new AbortController();
  const end = clock.monotonic() + ms;
  const expire = async () => {
    // A sleep may end early where the machine itself slept.
    while (clock.monotonic() < end) await clock.sleep(end - clock.monotonic(), ended.signal);
    timer.abort(late);
  };
  expire().catch(() => {});
  try {
    return await work(AbortSignal.any([signal, timer.signal]));
  } finally {
    ended.abort();
  }
}

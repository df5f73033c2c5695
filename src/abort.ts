/** Who waits for a signal; the signal itself knows of one listener only. */
const WAITING = new WeakMap<AbortSignal, (() => void)[]>();

/**
 * Calls `listener` when `signal` is aborted, at once if it already is; returns what takes it back. For a signal that
 * outlives thousands of listeners: Node's own list, and the table of a Set that has grown anew, go on pointing at
 * what they held before, so that a listener that has grown old keeps younger ones from the quick collector.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  if (!signal || signal.aborted) return () => {};
  const waiting = WAITING.get(signal) ?? waitingFor(signal);
  waiting.push(listener);
  return () => {
    const at = waiting.indexOf(listener);
    if (at >= 0) waiting.splice(at, 1);
  };
}

function waitingFor(signal: AbortSignal): (() => void)[] {
  const waiting: (() => void)[] = [];
  WAITING.set(signal, waiting);
  const tell = () => {
    for (const listener of [...waiting]) listener();
  };
  signal.addEventListener("abort", tell, { once: true });
  return waiting;
}

/** `work`, or a rejection with `signal.reason` as soon as the signal is aborted; the work itself goes on then. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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

import type { Clock } from "../../clock.js";
import { changeOf, type Parts, versionOf } from "./parts.js";

/** How often a page that is followed is made anew, ms. */
const INTERVAL_MS = 500;
/** After so many intervals without a change a comment is sent, which keeps proxies from closing the connection. */
const QUIET_INTERVALS = 30;
/** Server-sent events: a browser that loses the connection comes back after this, ms. */
const RETRY_MS = 2_000;

/**
 * The changes of a page as server-sent events, one JSON text each, until `signal` is aborted. `version` is that of the
 * parts that the browser has. Nothing is made for a reader that does not read. `cancelled`: the reader is gone.
 */
export function changes(
  render: () => Promise<Parts>,
  version: string,
  clock: Clock,
  { signal, cancelled }: { signal: AbortSignal; cancelled: () => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let shown: Parts | undefined;
  let quiet = 0;
  const next = async (): Promise<string> => {
    for (;;) {
      if (shown !== undefined) await clock.sleep(INTERVAL_MS, signal);
      const parts = await render();
      const known = shown ?? (versionOf(parts) === version ? parts : new Map());
      const change = changeOf(known, parts);
      const isFirst = shown === undefined;
      shown = parts;
      quiet += 1;
      if (change !== undefined) {
        quiet = 0;
        return `data: ${JSON.stringify(change)}\n\n`;
      }
      if (isFirst || quiet >= QUIET_INTERVALS) {
        quiet = 0;
        return ": nothing new\n\n";
      }
    }
  };
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`)),
    pull: async (controller) => {
      try {
        const event = await next();
        if (!signal.aborted) controller.enqueue(encoder.encode(event));
      } catch (error) {
        if (!signal.aborted) throw error;
        controller.close();
      }
    },
    cancel: cancelled,
  });
}

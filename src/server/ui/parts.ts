import { hash } from "node:crypto";
import type { Clock } from "../../core/clock.js";

/** The changing parts of a page in order: HTML by the id of its element. */
export type Parts = ReadonlyMap<string, string>;

/** Changes for a page in a browser: elements by id, and ticking texts by id. */
export interface Change {
  html: Record<string, string>;
  text: Record<string, string>;
}

const TICKING = /<span id="([^"]*)" data-ticks>([^<]*)<\/span>/g;

/** Marks a text that changes only with time, so that the page around it can stay. Neither argument may contain HTML. */
export function renderTicking(id: string, text: string): string {
  return `<span id="${id}" data-ticks>${text}</span>`;
}

/** Returns the changes since `before`; undefined if there are none. */
export function changeOf(before: Parts, after: Parts): Change | undefined {
  const change: Change = { html: {}, text: {} };
  for (const [id, html] of after) {
    const old = before.get(id);
    if (old === html) continue;
    if (old === undefined || renderStill(old) !== renderStill(html)) {
      change.html[id] = html;
      continue;
    }
    const texts = new Map([...old.matchAll(TICKING)].map(([, name, text]) => [name, text]));
    for (const [, name = "", text = ""] of html.matchAll(TICKING))
      if (texts.get(name) !== text) change.text[name] = text;
  }
  return Object.keys(change.html).length + Object.keys(change.text).length > 0 ? change : undefined;
}

/** Compares parts that differ only in ticking texts. */
export function hashVersion(parts: Parts): string {
  const text = [...parts].map(([id, html]) => `${id}\n${renderStill(html)}`).join("\n");
  return hash("sha256", text).slice(0, 16);
}

function renderStill(html: string): string {
  return html.replace(TICKING, '<span id="$1">');
}

/** The interval at which a followed page is rendered again, ms. */
const INTERVAL_MS = 500;
/** The number of unchanged intervals after which a comment keeps proxies from closing the connection. */
const QUIET_INTERVALS = 30;
/** Server-sent events: how long a browser waits before it reconnects, ms. */
const RETRY_MS = 2_000;

/** Streams a page's changes as server-sent events until `signal` is aborted; pauses for a reader that stalls. */
export function streamChanges(
  render: () => Promise<Parts>,
  version: string,
  clock: Clock,
  { signal, cancelled }: { signal: AbortSignal; cancelled: () => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let shown: Parts | undefined;
  const readNext = async (): Promise<string> => {
    for (let quiet = 1; ; quiet++) {
      if (shown !== undefined) await clock.sleep(INTERVAL_MS, signal);
      const parts = await render();
      const knownParts = shown ?? (hashVersion(parts) === version ? parts : new Map());
      const change = changeOf(knownParts, parts);
      const isFirst = shown === undefined;
      shown = parts;
      if (change !== undefined) return `data: ${JSON.stringify(change)}\n\n`;
      if (isFirst || quiet >= QUIET_INTERVALS) return ": nothing new\n\n";
    }
  };
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`)),
    pull: async (controller) => {
      try {
        const event = await readNext();
        if (!signal.aborted) controller.enqueue(encoder.encode(event));
      } catch (error) {
        if (!signal.aborted) throw error;
        controller.close();
      }
    },
    cancel: cancelled,
  });
}

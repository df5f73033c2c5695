import { hash } from "node:crypto";
import type { Clock } from "../../core/clock.js";

/** The parts of a page that may change, in their order on the page: the HTML of each element by its id. */
export type PageParts = ReadonlyMap<string, string>;

/** Changes for a page in a browser: new HTML of elements by id, and new ticking texts by id. */
export interface PageChange {
  html: Record<string, string>;
  text: Record<string, string>;
}

const TICKING = /<span id="([^"]*)" data-ticks>([^<]*)<\/span>/g;

/** Marks a text that changes with time only, so that the HTML around it is not sent again. The arguments must not contain HTML. */
export function renderElapsedTime(id: string, text: string): string {
  return `<span id="${id}" data-ticks>${text}</span>`;
}

/** Returns what changed between two renderings of a page; undefined if nothing did. */
export function diffPageParts(before: PageParts, after: PageParts): PageChange | undefined {
  const change: PageChange = { html: {}, text: {} };
  for (const [id, html] of after) {
    const old = before.get(id);
    if (old === html) continue;
    if (old === undefined || removeElapsedTimes(old) !== removeElapsedTimes(html)) {
      change.html[id] = html;
      continue;
    }
    const texts = new Map([...old.matchAll(TICKING)].map(([, name, text]) => [name, text]));
    for (const [, name = "", text = ""] of html.matchAll(TICKING))
      if (texts.get(name) !== text) change.text[name] = text;
  }
  return Object.keys(change.html).length + Object.keys(change.text).length > 0 ? change : undefined;
}

/** Returns a hash of the parts that is equal if they differ only in ticking texts. */
export function hashPageParts(parts: PageParts): string {
  const text = [...parts].map(([id, html]) => `${id}\n${removeElapsedTimes(html)}`).join("\n");
  return hash("sha256", text).slice(0, 16);
}

function removeElapsedTimes(html: string): string {
  return html.replace(TICKING, '<span id="$1">');
}

/** The interval at which a page with an open event stream is rendered again, in ms. */
const INTERVAL_MS = 500;
/** Number of unchanged intervals after which a comment is sent, so that proxies do not close the connection. */
const QUIET_INTERVALS = 30;
/** How long a browser waits before it reconnects to the events, in ms. */
const RETRY_MS = 2_000;

/** Streams the changes of a page as server-sent events until `signal` aborts. Pauses while the reader does not read. */
export function streamPageChanges(
  render: () => Promise<PageParts>,
  version: string,
  clock: Clock,
  { signal, cancelled }: { signal: AbortSignal; cancelled: () => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let shown: PageParts | undefined;
  const readNext = async (): Promise<string> => {
    for (let quiet = 1; ; quiet++) {
      if (shown !== undefined) await clock.sleep(INTERVAL_MS, signal);
      const parts = await render();
      const knownParts = shown ?? (hashPageParts(parts) === version ? parts : new Map());
      const change = diffPageParts(knownParts, parts);
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

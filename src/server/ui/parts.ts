import { createHash } from "node:crypto";

/** The changing parts of a page: HTML by the id of the element that holds it, in their order. */
export type Parts = ReadonlyMap<string, string>;

/** What a page in a browser has to change: elements by id, and texts that pass with time by id. */
export interface Change {
  html: Record<string, string>;
  text: Record<string, string>;
}

const TICKING = /<span id="([^"]*)" data-ticks>([^<]*)<\/span>/g;

/** A text that changes with time alone, so that the page around it can stay. Neither may hold HTML. */
export function ticking(id: string, text: string): string {
  return `<span id="${id}" data-ticks>${text}</span>`;
}

/** What has changed since `before`; undefined if nothing has. */
export function changeOf(before: Parts, after: Parts): Change | undefined {
  const change: Change = { html: {}, text: {} };
  for (const [id, html] of after) {
    const old = before.get(id);
    if (old === html) continue;
    if (old === undefined || still(old) !== still(html)) {
      change.html[id] = html;
      continue;
    }
    const texts = new Map([...old.matchAll(TICKING)].map(([, name, text]) => [name, text]));
    for (const [, name = "", text = ""] of html.matchAll(TICKING))
      if (texts.get(name) !== text) change.text[name] = text;
  }
  return Object.keys(change.html).length + Object.keys(change.text).length > 0 ? change : undefined;
}

/** The same for parts that differ in ticking texts only. */
export function versionOf(parts: Parts): string {
  const text = [...parts].map(([id, html]) => `${id}\n${still(html)}`).join("\n");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function still(html: string): string {
  return html.replace(TICKING, '<span id="$1">');
}

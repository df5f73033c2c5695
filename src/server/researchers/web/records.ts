import type { Block } from "../blocks/block.js";
import { isObject } from "../model/json.js";
import type { SearchResult } from "./engines.js";
import type { Robots } from "./robots.js";

/** A page that was fetched, as it is kept with its conversation. */
export interface KeptPage {
  kind: "page";
  /** As the engine gave it. */
  url: string;
  /** Where it was in the end; what it is cited as. */
  id: string;
  title: string;
  /** ISO 8601 */
  accessed: string;
  date?: string;
  blocks: Block[];
}

/** What is kept of the web with a conversation, so that a restarted service asks for nothing twice. */
export type WebRecord =
  | { kind: "searched"; query: string; results: SearchResult[]; failure?: string }
  | KeptPage
  | { kind: "left-out"; url: string; reason: string }
  | ({ kind: "robots"; origin: string } & Robots);

/** Whether a stored value is such a record: nobody but this program has written it. */
export function isWebRecord(value: unknown): value is WebRecord {
  return isObject(value) && ["searched", "page", "left-out", "robots"].includes(String(value.kind));
}

import type { KnownStatus } from "../../protocol/conversation.js";
import type { HourlyLimit } from "../../protocol/limits.js";
import type { ResearchJob } from "../researchers/researcher.js";
import type { Conversation } from "./conversation.js";

/** A conversation as the page of the service shows it. Times are epoch ms of the store's clock. */
export interface ListedConversation extends Conversation {
  /** The id of the key that it belongs to. */
  readonly keyId: string;
  /** When it was PROCESSING first. Undefined if it never was, or if a version that did not keep it ended it. */
  readonly startedAt?: number;
}

/** The requests of one key that count in its hour (§8). A key without a limit has none. */
export interface HourlyCount {
  keyId: string;
  operation: keyof HourlyLimit;
  /** Epoch ms of the store's clock, ascending. */
  times: readonly number[];
}

/** What a store shows of all keys, to be read only. Every method may reject with a StoreUnavailableError. */
export interface Overview {
  /** How many conversations are in each state. */
  states(): Promise<Record<KnownStatus, number>>;
  /** The newest conversations first, at most `limit`; `at` is the store's own time, epoch ms. */
  newest(limit: number): Promise<{ at: number; conversations: ListedConversation[] }>;
  /** Undefined if no conversation has that id; any text may be asked for. */
  find(requestId: string): Promise<{ at: number; conversation: ListedConversation } | undefined>;
  /** What the conversation was created with. Undefined if there is none, or if it was not kept when it ended. */
  job(requestId: string): Promise<ResearchJob | undefined>;
  /** The hour of each key that has counted requests. */
  hours(): Promise<{ at: number; counts: HourlyCount[] }>;
}

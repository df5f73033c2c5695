import type { KnownStatus } from "../../protocol/conversation.js";

/** One conversation request (§2) without its prompt and its output. Times are epoch ms. */
export interface Conversation {
  readonly requestId: string;
  readonly createdAt: number;
  readonly status: KnownStatus;
  /** Of one that has ended. */
  readonly endedAt?: number;
  /** Of a FAILED one: a sentence for its client. */
  readonly reason?: string;
  /** Of one that is worked on: how far, as JSON text. */
  readonly progress?: string;
}

/** §2: ISO 8601 with a UTC offset and fractional seconds, of an epoch time in ms. */
export function timestamp(at: number): string {
  return new Date(at).toISOString().replace("Z", "+00:00");
}

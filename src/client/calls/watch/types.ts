import type { Data, Status } from "../../../core/protocol/conversation.js";
import type { ResearchError } from "../errors.js";

export interface WatchTarget {
  requestId: string;
  /** When the service created it, epoch ms, if that is known: its age decides how often it is polled. */
  createdAt?: number | undefined;
  /** When this machine recorded it, epoch ms. Undefined for an id that somebody else may have mistyped. */
  recordedAt?: number | undefined;
  /** Once aborted, it is not polled any more, and the watch says no more of it. */
  signal?: AbortSignal | undefined;
}

/** What is watched: one id, several at once, or ids that come while the watch runs. */
export type WatchSource = string | Iterable<WatchTarget | string> | AsyncIterable<WatchTarget | string>;

/** Milliseconds until the next poll of a request that is `ageMs` old; `random` in [0, 1). */
export type PollInterval = (ageMs: number, random: number) => number;

export interface WatchOptions {
  signal?: AbortSignal;
  /** Milliseconds for which each id is watched; Infinity (the default) for to its end. */
  timeout?: number;
  /** A fixed wait between two polls of an id, in milliseconds; else adaptive. */
  interval?: number | undefined;
  /** Replaces the adaptive interval if more is known about how long runs take. */
  pollInterval?: PollInterval;
  /** Milliseconds without a successful poll after which an id is given up; default 10 minutes. */
  patience?: number;
  /** Whether the service has already answered in this command (a create, say). */
  answered?: boolean;
}

/** When something was seen. */
export interface Moment {
  /** Epoch milliseconds. */
  at: number;
  /** Milliseconds since the watch began. */
  elapsedMs: number;
}

export interface StateSeen extends Moment {
  kind: "state";
  requestId: string;
  status: Status;
  /** Null for the first state seen. */
  previous: Status | null;
  final: boolean;
  /** The service's answer as it is. */
  data: Data;
}

/** Why an id that is not final is polled no further. */
export type Ending =
  /** No poll has succeeded for too long, or an answer came that cannot change. */
  | { kind: "given-up"; error: ResearchError }
  /** Its time is over. */
  | { kind: "timeout" };

export type WatchEvent =
  /** The first state seen, and each change after it. */
  | StateSeen
  /** The state is the same, and what the service says of its progress is not. */
  | { kind: "progress"; requestId: string; data: Data }
  /** It waits for somebody, or has long been in a state that is not known; said once. `word` is the service's own. */
  | { kind: "stuck"; requestId: string; word: string; waitsForSomebody: boolean }
  /** A poll failed and the one before did not; one event however many follow. */
  | { kind: "trouble"; requestId: string; error: ResearchError }
  /** No poll is failing any more. */
  | { kind: "recovered"; elapsedMs: number }
  /** The service asked for a wait of this length. */
  | { kind: "asked-to-wait"; requestId: string; waitMs: number; error: ResearchError }
  /** Nothing has changed for five minutes. */
  | { kind: "unchanged"; elapsedMs: number }
  /** No further poll of this id; `status` is the last state seen. */
  | (Ending & Moment & { requestId: string; status: Status | null });

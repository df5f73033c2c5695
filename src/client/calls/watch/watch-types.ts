import type { Data, Status } from "../../../core/protocol/conversation.js";
import type { ResearchError } from "../errors.js";

export interface WatchTarget {
  requestId: string;
  /** Epoch ms at which the service created the request, if known. The age of the request decides how often to poll. */
  createdAt?: number | undefined;
  /** Epoch ms at which this machine recorded the request. Undefined without a record: then the id may be mistyped. */
  recordedAt?: number | undefined;
  /** After an abort the watch neither polls this id nor reports on it. */
  signal?: AbortSignal | undefined;
}

/** The ids to watch: one, several at once, or ids that arrive while the watch runs. */
export type WatchSource = string | Iterable<WatchTarget | string> | AsyncIterable<WatchTarget | string>;

/** Returns the milliseconds until the next poll of a request that is `ageMs` old; `random` in [0, 1). */
export type PollInterval = (ageMs: number, random: number) => number;

export interface WatchOptions {
  signal?: AbortSignal;
  /** How long to watch each id, in milliseconds; Infinity (the default): until the request ends. */
  timeout?: number;
  /** A fixed wait between two polls of an id, in milliseconds; default: adaptive. */
  interval?: number | undefined;
  /** Replaces the adaptive interval if the usual length of runs is known. */
  pollInterval?: PollInterval;
  /** How long to poll an id without success before giving it up, in milliseconds; default 10 minutes. */
  patience?: number;
  /** Whether the service has already answered this command, for example a create call. */
  answered?: boolean;
}

/** When an event happened. */
export interface EventTime {
  /** Epoch milliseconds. */
  at: number;
  /** Milliseconds since the watch began. */
  elapsedMs: number;
}

export interface StateChange extends EventTime {
  kind: "state";
  requestId: string;
  status: Status;
  /** The previous state; null for the first. */
  previous: Status | null;
  final: boolean;
  /** The service's answer, unchanged. */
  data: Data;
}

/** Why the watch stops polling an id that is not final. */
export type GiveUpReason =
  /** No poll has succeeded for too long, or an error shows that further polls are useless. */
  | { kind: "given-up"; error: ResearchError }
  /** The timeout of this id has passed. */
  | { kind: "timeout" };

export type WatchEvent =
  /** The first state, and each change after it. */
  | StateChange
  /** The progress has changed, but the state has not. */
  | { kind: "progress"; requestId: string; data: Data }
  /** The request waits for a person, or has long been in an unknown state; reported once. `word`: the service's word for the state. */
  | { kind: "stuck"; requestId: string; word: string; waitsForSomebody: boolean }
  /** A poll failed; one event for each series of failures, over all ids. */
  | { kind: "trouble"; requestId: string; error: ResearchError }
  /** Polls succeed again for every id. */
  | { kind: "recovered"; elapsedMs: number }
  /** The service asked for this wait before the next poll. */
  | { kind: "asked-to-wait"; requestId: string; waitMs: number; error: ResearchError }
  /** No state has changed for five minutes. */
  | { kind: "unchanged"; elapsedMs: number }
  /** The watch stops polling this id; `status` is its last known state. */
  | (GiveUpReason & EventTime & { requestId: string; status: Status | null });

import type { KnownStatus } from "../../protocol/conversation.js";
import type { HourlyLimit } from "../../protocol/limits.js";
import type { KeyStore } from "../keys/key-store.js";
import type { Claim, ResearchJob } from "../researchers/researcher.js";
import type { Conversation } from "./conversation.js";
import type { ExchangeStore } from "./exchange-store.js";
import type { Overview } from "./overview.js";

export type { Claim };

/** Whose request it is: the key that the client sent, as far as a store has to know it. */
export interface Caller {
  /** The id of the key (see `keyIdOf`); conversations and hourly counts belong to it. */
  keyId: string;
  /** §8, requests per hour; Infinity is no limit and needs no count. */
  limits: HourlyLimit;
  /** Whether it sees its own conversations only. A service without added keys has one key, which sees all. */
  ownOnly: boolean;
}

/** The hour of the key is used up; nothing was done and nothing was counted. */
export interface RateLimited {
  kind: "rate-limited";
  /** How long until the next request is allowed, ms. Not a date: the store's clock may be another machine's. */
  retryAfterMs: number;
}

export type CreateResult = { kind: "created"; createdAt: number } | RateLimited;

export type StopResult =
  /** `remote`: the request at another service that was begun for it. */
  | { kind: "stopped"; remote?: RemoteRequest }
  | { kind: "not-found" }
  /** It had ended before (§3, rule 1). */
  | { kind: "already-ended"; status: KnownStatus }
  | RateLimited;

/** How the work on a conversation ended. `data` is JSON text of an object: what is to be said beside the output. */
export type Outcome = {
  data?: string;
} /** `output` is JSON text, kept and given back byte for byte: a string's quotes and escapes included. */ & (
  | { status: "COMPLETED"; output: string }
  | { status: "FAILED"; reason: string }
);

/** A request at another service that works on a conversation for us. */
export interface RemoteRequest {
  /** The origin it is sent to: what was begun at one is never asked for at another. */
  at: string;
  /** What people call that place. */
  provider: string;
  /** False: that place has no way to stop what runs there. */
  canStop: boolean;
  /** Undefined until `keep`: its create may have been sent. */
  remoteId?: string;
}

/** A request at another service that is to be stopped there. */
export interface Cancellation {
  requestId: string;
  remoteId: string;
  provider: string;
}

/** What is known of requests at another service, so that each conversation is sent once, and stopped there too. */
export interface RemoteRequests {
  /**
   * Undefined if none was begun. `mayComeMs`: for how long the id may still come from a process that has lost its
   * claim; if it has not come by then, it is not known whether the request exists.
   */
  read(requestId: string): Promise<(RemoteRequest & { mayComeMs: number }) | undefined>;
  /**
   * Says that the one create of a conversation is about to be sent. Resolves when that would outlive a `kill -9`. True for
   * the claim that said it, which alone may send it; false if another one did, or if the claim is not valid any more.
   */
  begin(claim: Claim, request: Omit<RemoteRequest, "remoteId">): Promise<boolean>;
  /**
   * Keeps the id that the create was answered with; valid after the claim was lost, too. Resolves when it would
   * outlive a `kill -9`. "stopped": the conversation was stopped meanwhile, and the cancellation is kept. "ended":
   * nothing is kept.
   */
  keep(claim: Claim, remoteId: string): Promise<"kept" | "stopped" | "ended">;
  /** Takes a cancellation at that origin, and hides it for `forMs` from every process; undefined if none is due. */
  takeCancellation(at: string, forMs: number): Promise<Cancellation | undefined>;
  /** That request needs no cancellation any more. */
  cancelled(requestId: string): Promise<void>;
}

/** Why the work on a conversation is aborted: its client stopped it. */
export class ConversationStopped extends Error {
  override name = "ConversationStopped";
}

/** Why the work on a conversation is aborted: it is another worker's now, or was stopped. */
export class ClaimLost extends Error {
  override name = "ClaimLost";
}

/** Why the work on a conversation is aborted: the service ends, and goes on with it when it is started again. */
export class ServiceClosing extends Error {
  override name = "ServiceClosing";
}

/** What is unfinished, as operators watch it. */
export interface StoreCounts {
  /** Conversations that no worker holds: PENDING ones, and those that were given back or lost their worker. */
  waiting: number;
  /** Conversations that a worker holds. */
  working: number;
  /** How long the first one that waits has been due, ms; 0 if none is. */
  oldestDueMs: number;
  /** Requests at another service that are still to be stopped there. */
  cancellations: number;
  /** Processes alive that do research. */
  workers: number;
}

/** What a process knows of its own connections to a shared store, also while that is away. */
export interface StoreFigures {
  /** In use for statements just now. */
  connections: number;
  /** Callers that wait for a connection. */
  connectionsWaiting: number;
  /** Leases of this process that ran out. */
  leasesLost: number;
}

/**
 * Everything that outlives a request: conversations with their queue, hourly counts, keys. The operations (§4) use
 * one half, the scheduler the other. Any number of processes may share a store that says so.
 *
 * Every method may reject with a StoreUnavailableError (nothing was done) or a StoreOutcomeUnknownError.
 */
export interface ConversationStore {
  readonly keys: KeyStore;
  /** Deleted with their conversation, and when it is stopped. */
  readonly exchanges: ExchangeStore;
  /** For the page of the service, which sees the conversations of all keys. */
  readonly overview: Overview;
  readonly remote: RemoteRequests;

  /** Adds a PENDING conversation and counts it, both or neither. Resolves when it would outlive a `kill -9`. */
  create(caller: Caller, job: ResearchJob): Promise<CreateResult>;
  /** Undefined if the caller may see no conversation with that id; any text may be asked for. */
  get(caller: Caller, requestId: string): Promise<Conversation | undefined>;
  /** The same, with the output (JSON text) of a COMPLETED one, and with the `data` of its outcome. */
  output(
    caller: Caller,
    requestId: string,
  ): Promise<{ conversation: Conversation; output?: string; data?: string } | undefined>;
  /** Stops a conversation that has not ended. Each stop counts, whatever it finds, but not a rate-limited one. */
  stop(caller: Caller, requestId: string): Promise<StopResult>;

  /**
   * Waits until a conversation is due, which is PROCESSING then; the one that is due longest comes first. No two
   * claims of one conversation are valid at a time. Rejects with `signal.reason` when aborted.
   */
  claim(signal: AbortSignal): Promise<Claim>;
  /** Says how far the work is, as JSON text, for `get`. It may be lost; nothing if the claim is not valid. */
  tell(claim: Claim, progress: string): Promise<void>;
  /** Writes the end, dated by the store. False, nothing written, if the claim is not valid: stopped, or lost. */
  end(claim: Claim, outcome: Outcome): Promise<boolean>;
  /** Gives up a claim without an end: the conversation is due again, and stays PROCESSING. Nothing if it is lost. */
  giveBack(claim: Claim): Promise<void>;

  /** Deletes at least the conversations that ended more than `ageMs` ago, and resolves with how many. */
  deleteEnded(ageMs: number): Promise<number>;
  /** How many that would delete, and how many conversations there are. */
  countEnded(ageMs: number): Promise<{ old: number; all: number }>;
  counts(): Promise<StoreCounts>;
  /** Of a store that processes share. */
  readonly figures?: StoreFigures;
  /** Resolves if states can be read just now, rejects within a second or two if they cannot. */
  ready(): Promise<void>;
  /** A store that can be silent does not delay `close`: what it has not answered 2 s later rejects from then on. */
  giveUp?(): void;
  /** Frees everything. The caller has ended or given back its claims before. */
  close(): Promise<void>;
}

/** The store could not be reached or written, and nothing was done: the same request may be sent again. */
export class StoreUnavailableError extends Error {
  override name = "StoreUnavailableError";
  /** What PostgreSQL said, if it answered. */
  readonly sqlstate: string | undefined;
  constructor(message: string, { sqlstate, ...options }: ErrorOptions & { sqlstate?: string } = {}) {
    super(message, options);
    this.sqlstate = sqlstate;
  }
}

/** The store was lost while it wrote; whether the write is there cannot be known now. */
export class StoreOutcomeUnknownError extends Error {
  override name = "StoreOutcomeUnknownError";
}

import type { KnownStatus } from "../../core/protocol/conversation.js";
import type { HourlyLimit } from "../../core/protocol/rate-limits.js";
import type { Claim, ExchangeStore, ResearcherFacts, ResearchJob } from "../../core/researcher.js";
import { shortenLine } from "../../core/text/format-text.js";
import type { KeyBudgets, KeyStore, Rate, ServiceKey } from "../keys/key-store.js";
import type { CreateAnswer, Refused } from "./create-gate.js";

export type { Claim };

/** A conversation (§2) without its prompt and its output. Times are epoch ms. */
export interface Conversation {
  requestId: string;
  createdAt: number;
  status: KnownStatus;
  /** When the conversation ended; undefined until then. */
  endedAt?: number | undefined;
  /** If FAILED, a sentence for the client. If PENDING, why the upstream service has not accepted the request yet. */
  reason?: string | undefined;
  /** The progress of the running research, as JSON text. */
  progress?: string | undefined;
}

/** A conversation as the service's page lists it. Times are epoch ms of the store's clock. */
export interface ListedConversation extends Conversation {
  /** The id of the key that owns the conversation. */
  keyId: string;
  /** When the conversation first became PROCESSING; undefined if it never did. */
  startedAt?: number | undefined;
}

/** The fields of a key that determine its limits. */
export type LimitedKey = Pick<ServiceKey, "id" | "limits" | "budgets">;

/** What counts against the budgets of a key: numbers of conversations, and dollars. */
export interface KeyFigures {
  /** Number of create calls in the budget's window. `createdFreeMs`: ms until a full window has room again. */
  created: number;
  createdFreeMs?: number | undefined;
  /** Dollars spent on conversations that ended in the window. `spentFreeMs`: ms until a full window has room again. */
  spent: number;
  spentFreeMs?: number | undefined;
  /** Dollars reserved for unfinished conversations, at the highest known cost of their model. `reservedByRunning`: the part for running ones. */
  reserved: number;
  reservedByRunning: number;
  running: number;
  waiting: number;
  /** The highest known cost, in dollars, of the model of the next conversation; undefined while no cost is known. */
  price?: number | undefined;
  /** Whether conversations report their cost in dollars. */
  isMeasured: boolean;
}

/** How many requests of one operation count in the current hour of a key (§8). */
export interface HourUse {
  used: number;
  /** When the next request is allowed, epoch ms of the store's clock; undefined if it is allowed now. */
  nextAt?: number | undefined;
}

/** What a key has used of each of its limits. */
export interface KeyUse extends Pick<KeyFigures, "created" | "spent" | "reserved" | "running"> {
  keyId: string;
  create: HourUse;
  stop: HourUse;
  /** When the next create call is allowed, in epoch ms of the store's clock; undefined if it is allowed now or the time is unknown. */
  nextAt?: number | undefined;
}

/** The cost that the outcome of a conversation reports. Unreported figures are undefined. */
export interface Bill {
  model?: string | undefined;
  dollars?: number | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** The cost of the ended conversations of one key, day or model. */
export interface SpentSum {
  /** The id of the key; the day as `2026-01-31` (UTC); the model, or "" if it is unknown. */
  name: string;
  completed: number;
  failed: number;
  stopped: number;
  dollars: number;
  /** Number of conversations that reported dollars. */
  withDollars: number;
  inputTokens: number;
  outputTokens: number;
  /** Number of conversations that reported neither dollars nor tokens. */
  unreported: number;
}

export type SpentBy = "key" | "day" | "model";

/** The period for which the page and the metrics show spending, in ms. */
export const SPENT_MS = 30 * 86_400_000;

/** Maximum length of a model name that is stored, in characters. */
const LONGEST_MODEL = 200;

/** Reads the cost from an outcome's `data`. The data comes from outside, so invalid amounts are left out. */
export function parseBill(data = "{}"): Bill {
  const { cost_dollars, usage, model } = JSON.parse(data);
  const readAmount = (value: unknown) =>
    typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
  const name = typeof model === "string" ? shortenLine(model.replaceAll("\0", ""), LONGEST_MODEL) : "";
  return {
    model: name || undefined,
    dollars: readAmount(cost_dollars ?? usage?.cost_dollars),
    inputTokens: readAmount(usage?.input_tokens),
    outputTokens: readAmount(usage?.output_tokens),
  };
}

/** The maximum when a key's conversations are counted, either those that wait or those ahead of another one in the queue. */
export const MOST_COUNTED = 1_000;

/** Reads the conversations of all keys. Every method may reject with a StoreUnavailableError. */
export interface Overview {
  /** Counts the conversations in each state. */
  countStates(): Promise<Record<KnownStatus, number>>;
  /** Lists at most `limit` conversations, newest first, of `state` or of all states. `at`: the store's time in epoch ms. */
  listNewest(
    limit: number,
    state?: KnownStatus,
  ): Promise<{ at: number; conversations: ListedConversation[] }>;
  /** Finds a conversation; undefined if there is none with that id. Accepts any text. */
  find(requestId: string): Promise<{ at: number; conversation: ListedConversation } | undefined>;
  /** Returns the job of a conversation; undefined if the conversation does not exist or the store no longer has its job. */
  findJob(requestId: string): Promise<ResearchJob | undefined>;
  /** Returns what each key has used of its limits, in the order of `keys`. */
  use(keys: readonly LimitedKey[]): Promise<{ at: number; uses: KeyUse[] }>;
  /** Sums costs, also of deleted conversations. `sinceMs`: from the start of the hour that long ago; undefined: of all time. */
  listSpent(by: SpentBy, sinceMs?: number): Promise<SpentSum[]>;
}

/** The key that sent a request, as far as the store needs to know it. */
export interface Caller {
  /** The id of the key (see `shortenHash`), to which conversations and hourly counts belong. */
  keyId: string;
  /** Requests per hour (§8). Infinity means no limit; the store then counts nothing. */
  limits: HourlyLimit;
  /** The key's budgets. Only added keys have budgets. */
  budgets?: KeyBudgets;
  /** Whether the key may see only its own conversations. The single key of a service without added keys may see all. */
  ownOnly: boolean;
}

/** The hourly limit or a budget of the key is used up. The store has changed and counted nothing. */
export interface RateLimited {
  kind: "rate-limited";
  /** Ms until the next request is allowed; not a date, because the store may use the clock of another machine. */
  retryAfterMs: number;
  /** The budget that is used up; undefined if it is the hourly limit. */
  over?:
    | ({ what: "budget" } & Rate)
    /** `price` is undefined while no cost of the model is known. */
    | ({ what: "dollars" } & Rate & Pick<KeyFigures, "spent" | "reserved" | "price">);
}

export type CreateResult =
  | { kind: "created"; createdAt: number }
  | RateLimited
  /** The key has a budget of dollars, but the researcher does not report costs. */
  | { kind: "not-measured" };

export type StopResult =
  /** `remote`: the conversation's request at the upstream service, if one was begun. */
  | { kind: "stopped"; remote?: RemoteRequest }
  | { kind: "not-found" }
  /** The conversation had already ended (§3, rule 1). */
  | { kind: "already-ended"; status: KnownStatus }
  | RateLimited;

/** How the work on a conversation ended. `data`: JSON text of an object whose fields the client gets beside the output. */
export type Outcome = {
  data?: string;
} /** `output` is JSON text, stored and returned byte for byte, with a string's quotes and escapes. */ & (
  | { status: "COMPLETED"; output: string }
  | { status: "FAILED"; reason: string }
);

/** The request at an upstream service that does the research for a conversation. */
export interface RemoteRequest {
  /** The upstream service's origin; the request is never polled at another origin. */
  at: string;
  /** The display name of the upstream service. */
  provider: string;
  /** Whether the upstream service can stop a running request. */
  canStop: boolean;
  /** The upstream id; undefined until `keep`, although the create call may already have been sent. */
  remoteId?: string | undefined;
}

/** A request that still has to be stopped at the upstream service. */
export interface Cancellation {
  requestId: string;
  remoteId: string;
  provider: string;
}

/** A limit on create calls in 24 hours. A create call with an unknown outcome counts, a refused one does not. */
export interface DayLimit {
  /** Identifies a key at an origin. */
  account: string;
  most: number;
}

/** Tracks the requests at an upstream service, so that each conversation is sent once and a stop here also stops there. */
export interface RemoteRequests {
  /** Returns the request of a conversation, if one was begun. `mayComeMs`: how long a process that lost its claim may still report the id. */
  read(requestId: string): Promise<(RemoteRequest & { mayComeMs: number }) | undefined>;
  /**
   * Claims a conversation whose request was begun ("begun") or not yet sent ("new"), as `ConversationStore.claim` does.
   * A claimed new one stays PENDING, and the claim does not count as a start. While the upstream refuses create calls,
   * only one claim at a time may try.
   */
  claim(which: "begun" | "new", signal: AbortSignal): Promise<Claim>;
  /**
   * Records that the create call of a conversation is about to be sent; resolves once the record would survive a `kill
   * -9`. Returns true to the only claim that may send the create call, and false to all others and to an invalid claim.
   * Returns `fullMs`, and records nothing, if the account's day is full for that many ms.
   */
  begin(
    claim: Claim,
    request: Omit<RemoteRequest, "remoteId">,
    day?: DayLimit,
  ): Promise<boolean | { fullMs: number }>;
  /**
   * Stores the id from the answer to a create call and makes the conversation PROCESSING, even if the claim was lost.
   * Resolves once that would survive a `kill -9`. "stopped": the conversation was stopped meanwhile, and the store
   * keeps a cancellation. "ended": it had ended, and the store keeps nothing.
   */
  keep(claim: Claim, remoteId: string): Promise<"kept" | "stopped" | "ended">;
  /** Returns a conversation to its place in the queue, because its create call provably created nothing. `reason` defaults to the last one. */
  release(claim: Claim, reason?: string): Promise<void>;
  /** Returns each stopped conversation for which it will stay unknown whether its request exists upstream. Returns each once. */
  takeLost(): Promise<Omit<Cancellation, "remoteId"> | undefined>;
  /** Makes conversations FAILED that have not been sent within WAIT_LIMIT_MS of their creation. */
  expire(): Promise<void>;
  /** Returns a cancellation at the origin `at`, and hides it from all processes for `forMs`; undefined if none is due. */
  takeCancellation(at: string, forMs: number): Promise<Cancellation | undefined>;
  /** Removes the cancellation of a conversation. */
  noteCancelled(requestId: string): Promise<void>;
  /** Updates the gate for create calls, for all processes, by the answer to this claim's create call. */
  noteAnswered(claim: Claim, answer: CreateAnswer): Promise<void>;
  /** Returns why new conversations of a key are refused at present; undefined if they are accepted. */
  findRefusal(keyId: string): Promise<Refused | undefined>;
}

/** Milliseconds after its creation at which a conversation that was not sent upstream becomes FAILED. */
export const WAIT_LIMIT_MS = 86_400_000;
/** The beginning of the reason of a conversation that was not sent in time; its last reason for waiting follows. */
export const NOT_SENT = "It could not be sent within 24 hours, and was not sent. ";

/** The abort reason for work on a conversation that was released and waits again. */
export class Released extends Error {
  override name = "Released";
}

/** The abort reason for work on a conversation that its client stopped. */
export class ConversationStopped extends Error {
  override name = "ConversationStopped";
}

/** The abort reason for work on a conversation when the service closes; the next start continues the work. */
export class ServiceClosing extends Error {
  override name = "ServiceClosing";
}

/** Counts of unfinished work, for operators. */
export interface StoreCounts {
  /** Number of conversations without a worker: PENDING ones, and those that were returned or lost their worker. */
  waiting: number;
  /** Number of conversations with a worker. */
  working: number;
  /** Milliseconds since the first waiting conversation became due; 0 if no conversation is due. */
  oldestDueMs: number;
  /** Number of requests that still have to be stopped at the upstream service. */
  cancellations: number;
  /** Number of live processes that do research. */
  workers: number;
  /** Whether the upstream service refuses all create calls at present, so that new conversations wait. */
  isRefused: boolean;
}

/** A process's connections to a shared store. Available even while the store is not. */
export interface StoreFigures {
  /** Number of connections that run a statement. */
  connections: number;
  /** Number of callers that wait for a connection. */
  connectionsWaiting: number;
  /** Number of leases of this process that expired. */
  leasesLost: number;
}

/**
 * Holds everything that outlives a request: conversations with their queue, hourly counts, and keys. The operations
 * (§4) use one half of the methods, the scheduler the other. Any number of processes may share the PostgreSQL store.
 * Every method may reject with a StoreUnavailableError (nothing was done) or a StoreOutcomeUnknownError.
 */
export interface ConversationStore {
  readonly keys: KeyStore;
  /** The exchanges of a conversation, which are deleted with it, and when it is stopped. */
  readonly exchanges: ExchangeStore;
  /** What the service's page shows, for the conversations of all keys. */
  readonly overview: Overview;
  readonly remote: RemoteRequests;

  /** Adds a PENDING conversation and counts it, or does neither. Resolves once both would survive a `kill -9`. */
  create(caller: Caller, job: ResearchJob): Promise<CreateResult>;
  /** Finds a conversation; undefined if the caller may not see one with that id. Accepts any text. */
  get(caller: Caller, requestId: string): Promise<Conversation | undefined>;
  /** Like `get`; also returns the output (JSON text) of a COMPLETED conversation, and the `data` of its outcome. */
  output(
    caller: Caller,
    requestId: string,
  ): Promise<
    { conversation: Conversation; output?: string | undefined; data?: string | undefined } | undefined
  >;
  /** Stops a conversation that has not ended. Every stop counts in the hour, unless the hourly limit refuses it. */
  stop(caller: Caller, requestId: string): Promise<StopResult>;

  /**
   * Waits for the conversation that has been due longest, and makes it PROCESSING. A conversation has at most one valid
   * claim at a time. Rejects with `signal.reason`.
   */
  claim(signal: AbortSignal): Promise<Claim>;
  /** Stores the progress (JSON text) that `get` returns. A crash may lose it. Does nothing if the claim is invalid. */
  tell(claim: Claim, progress: string): Promise<void>;
  /** Writes the outcome, with the store's time. Returns false and writes nothing if the claim is invalid (stopped, or lost). */
  end(claim: Claim, outcome: Outcome): Promise<boolean>;
  /** Gives up a claim without an outcome. The conversation stays PROCESSING and is due again. Does nothing if the claim is lost. */
  returnClaim(claim: Claim): Promise<void>;

  /** Deletes conversations that ended more than `ageMs` ago, perhaps some more, and returns their number. */
  deleteEnded(ageMs: number): Promise<number>;
  readCounts(): Promise<StoreCounts>;
  /** The process's connections; undefined for a store of a single process. */
  readonly figures?: StoreFigures;
  /** Declares the key and limits of this process. Rejects with a ServiceStartError if another process declared different ones. */
  agreeOn?(settings: string): Promise<void>;
  /** Declares the model of this process and whether it reports dollars; budgets of dollars need both. */
  declareResearch(facts: ResearcherFacts): Promise<void>;
  /** Resolves if states can be read at present. Rejects within a second or two if they cannot. */
  checkReady(): Promise<void>;
  /** Limits the wait for a silent store, so that it does not delay `close`: after `ms` (default 2,000), every open call rejects. */
  closeAtOnce?(ms?: number): void;
  /** Frees all resources. The caller must have ended or returned all claims. */
  close(): Promise<void>;
}

/** Thrown if the store fails for a reason that does not depend on the request. */
export class StoreError extends Error {}

/** Thrown if the store could not be reached or written, and nothing was done. The same request may be sent again. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
  /** The SQLSTATE code, if PostgreSQL answered. */
  readonly sqlstate: string | undefined;
  constructor(message: string, { sqlstate, ...options }: ErrorOptions & { sqlstate?: string } = {}) {
    super(message, options);
    this.sqlstate = sqlstate;
  }
}

/** Thrown if the connection to the store was lost during a write, so that it is unknown whether the write was done. */
export class StoreOutcomeUnknownError extends StoreError {
  override name = "StoreOutcomeUnknownError";
}

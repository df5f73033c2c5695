import type { KnownStatus } from "../../core/protocol/conversation.js";
import type { HourlyLimit } from "../../core/protocol/limits.js";
import type { Claim, ExchangeStore, ResearchFacts, ResearchJob } from "../../core/researcher.js";
import { shortenLine } from "../../core/text/phrases.js";
import type { KeyBudgets, KeyStore, Rate, ServiceKey } from "../keys/key-store.js";
import type { CreateAnswer, Refused } from "./create-gate.js";

export type { Claim };

/** One conversation request (§2) without its prompt and its output. Times are epoch ms. */
export interface Conversation {
  readonly requestId: string;
  readonly createdAt: number;
  readonly status: KnownStatus;
  /** Set once the conversation has ended. */
  readonly endedAt?: number | undefined;
  /** FAILED: a sentence for the client. PENDING: why the upstream service has not accepted it yet. */
  readonly reason?: string | undefined;
  /** Progress of the research while it runs, as JSON text. */
  readonly progress?: string | undefined;
}

/** A conversation as the service's page shows it. Times are epoch ms of the store's clock. */
export interface ListedConversation extends Conversation {
  /** The id of the key that owns it. */
  readonly keyId: string;
  /** When it first became PROCESSING; undefined if it never did. */
  readonly startedAt?: number | undefined;
}

/** The fields of a key that its limits depend on. */
export type LimitedKey = Pick<ServiceKey, "id" | "limits" | "budgets">;

/** Usage that counts against the limits of a key: numbers of conversations, and dollars. */
export interface KeyFigures {
  /** Creates in the window of the budget, and the ms until the window has room again if it is full. */
  created: number;
  createdFreeMs?: number | undefined;
  /** Dollars spent on conversations that ended in the window, and the ms until it has room again if it is full. */
  said: number;
  saidFreeMs?: number | undefined;
  /** Dollars reserved for unfinished conversations, at the highest known cost of their model; `begun` is the running share. */
  reserved: number;
  begun: number;
  running: number;
  waiting: number;
  /** The highest known cost of the model that the next conversation will use; undefined while no cost is known. */
  price?: number | undefined;
  /** Whether conversations report their cost. */
  isMeasured: boolean;
}

/** The requests of one operation that count in the current hour of a key (§8). */
export interface HourUse {
  used: number;
  /** When the next request is allowed, epoch ms of the store's clock; undefined if it is allowed now. */
  nextAt?: number | undefined;
}

/** A key's usage of each of its limits. */
export interface KeyUse extends Pick<KeyFigures, "created" | "said" | "reserved" | "running"> {
  keyId: string;
  create: HourUse;
  stop: HourUse;
  /** When the next create is allowed, epoch ms of the store's clock; undefined if it is allowed now or the time is unknown. */
  nextAt?: number | undefined;
}

/** The cost that an outcome reports. */
export interface Bill {
  model?: string | undefined;
  dollars?: number | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** The cost of ended conversations, for one key, day or model. */
export interface Spent {
  /** The id of the key; the day as `2026-01-31` (UTC); the model, or "" if it is unknown. */
  name: string;
  completed: number;
  failed: number;
  stopped: number;
  dollars: number;
  /** How many reported dollars. */
  priced: number;
  inputTokens: number;
  outputTokens: number;
  /** How many reported neither dollars nor tokens. */
  unsaid: number;
}

export type SpentBy = "key" | "day" | "model";

/** The period of spending that the page and the metrics show, ms. */
export const SPENT_MS = 30 * 86_400_000;

/** The longest model name that is stored, in characters. */
const LONGEST_MODEL = 200;

/** Reads the cost from an outcome's `data`. The data comes from outside, so an invalid amount is left out. */
export function readBill(data = "{}"): Bill {
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

/** The most conversations of a key that are counted ahead of one, or as waiting. */
export const MOST_COUNTED = 1_000;

/** Read-only access to the conversations of all keys. Every method may reject with a StoreUnavailableError. */
export interface Overview {
  /** Counts the conversations in each state. */
  countStates(): Promise<Record<KnownStatus, number>>;
  /** Lists at most `limit` conversations of one state or all, newest first; `at` is the store's time, epoch ms. */
  listNewest(
    limit: number,
    state?: KnownStatus,
  ): Promise<{ at: number; conversations: ListedConversation[] }>;
  /** Returns undefined if no conversation has that id; accepts any text. */
  find(requestId: string): Promise<{ at: number; conversation: ListedConversation } | undefined>;
  /** Returns the job of a conversation; undefined if the conversation does not exist or its job was not kept. */
  findJob(requestId: string): Promise<ResearchJob | undefined>;
  /** Returns the usage of each key, in the order of `keys`. */
  use(keys: readonly LimitedKey[]): Promise<{ at: number; uses: KeyUse[] }>;
  /** Sums spending by name, deleted conversations included: since the start of the hour `sinceMs` ago, or in total. */
  listSpent(by: SpentBy, sinceMs?: number): Promise<Spent[]>;
}

/** The key that sent a request, as far as a store needs to know it. */
export interface Caller {
  /** The id of the key (see `shortenHash`); conversations and hourly counts belong to it. */
  keyId: string;
  /** §8, requests per hour; Infinity means no limit, and the store counts nothing. */
  limits: HourlyLimit;
  /** Only added keys have budgets. */
  budgets?: KeyBudgets;
  /** Whether the key sees only its own conversations. A service without added keys has one key, which sees all. */
  ownOnly: boolean;
}

/** The hour or a budget of the key is used up; the store changed and counted nothing. */
export interface RateLimited {
  kind: "rate-limited";
  /** Ms until the next request is allowed. Not a date, because the store's clock may be another machine's. */
  retryAfterMs: number;
  /** The exceeded budget; undefined if the hour is used up. */
  over?:
    | ({ what: "budget" } & Rate)
    /** `price` is undefined while no cost of the model is known. */
    | ({ what: "dollars" } & Rate & Pick<KeyFigures, "said" | "reserved" | "price">);
}

export type CreateResult =
  | { kind: "created"; createdAt: number }
  | RateLimited
  /** The key has a budget of dollars, but the researcher does not report dollars. */
  | { kind: "not-measured" };

export type StopResult =
  /** `remote`: its request at the upstream service, if one was begun. */
  | { kind: "stopped"; remote?: RemoteRequest }
  | { kind: "not-found" }
  /** The conversation had already ended (§3, rule 1). */
  | { kind: "already-ended"; status: KnownStatus }
  | RateLimited;

/** The result of the work on a conversation. `data` is the JSON text of an object that is returned beside the output. */
export type Outcome = {
  data?: string;
} /** `output` is JSON text, kept and given back byte for byte: a string's quotes and escapes included. */ & (
  | { status: "COMPLETED"; output: string }
  | { status: "FAILED"; reason: string }
);

/** A request at an upstream service that does the research for a conversation. */
export interface RemoteRequest {
  /** The origin that the request was sent to. It is never polled at another origin. */
  at: string;
  /** The display name of the upstream service. */
  provider: string;
  /** Whether the upstream service can stop a running request. */
  canStop: boolean;
  /** Undefined until `keep`; the create may already have been sent. */
  remoteId?: string | undefined;
}

/** A request that has to be stopped at the upstream service. */
export interface Cancellation {
  requestId: string;
  remoteId: string;
  provider: string;
}

/** A limit on creates in 24 hours. A create with an unknown outcome counts; a refused one does not. */
export interface DayLimit {
  /** Identifies one key at one origin. */
  account: string;
  most: number;
}

/** Tracks requests at an upstream service, so that each conversation is sent once and stops there when it stops here. */
export interface RemoteRequests {
  /** Returns undefined if no request was begun. `mayComeMs`: how long a process that lost its claim may still report the id. */
  read(requestId: string): Promise<(RemoteRequest & { mayComeMs: number }) | undefined>;
  /**
   * Claims a conversation whose request was begun ("begun") or not yet sent ("new"), as `ConversationStore.claim` does.
   * Claiming a new one keeps it PENDING and does not count as a start. While the upstream refuses creates, one claim probes.
   */
  claim(which: "begun" | "new", signal: AbortSignal): Promise<Claim>;
  /**
   * Records that the create of a conversation is about to be sent; resolves once the record would survive a `kill -9`.
   * Returns true to the one claim that may send it; false to every other claim, and to an invalid one. Returns `fullMs`
   * and records nothing if the account's day is full for that many ms.
   */
  begin(
    claim: Claim,
    request: Omit<RemoteRequest, "remoteId">,
    day?: DayLimit,
  ): Promise<boolean | { fullMs: number }>;
  /**
   * Stores the id from the answer to a create and makes the conversation PROCESSING; works even if the claim was lost.
   * Resolves once that would survive a `kill -9`. "stopped": the conversation was stopped meanwhile, so the store keeps a
   * cancellation. "ended": the store keeps nothing.
   */
  keep(claim: Claim, remoteId: string): Promise<"kept" | "stopped" | "ended">;
  /** Returns a conversation whose create provably created nothing to its place in the queue. Keeps the last reason by default. */
  release(claim: Claim, reason?: string): Promise<void>;
  /** Returns the next stopped conversation whose create has an outcome that will stay unknown; each one once. */
  takeLost(): Promise<{ requestId: string; provider: string } | undefined>;
  /** Makes conversations FAILED that were not sent within WAIT_LIMIT_MS of their creation. */
  expire(): Promise<void>;
  /** Takes a cancellation at that origin and hides it from every process for `forMs`; undefined if none is due. */
  takeCancellation(at: string, forMs: number): Promise<Cancellation | undefined>;
  /** Removes the cancellation of that conversation. */
  noteCancelled(requestId: string): Promise<void>;
  /** Updates the gate for creates from the answer to this claim's create. Holds for all processes. */
  noteAnswered(claim: Claim, answer: CreateAnswer): Promise<void>;
  /** Returns why new conversations of a key are refused now; undefined if they are accepted. */
  findRefusal(keyId: string): Promise<Refused | undefined>;
}

/** A conversation becomes FAILED if it was not sent upstream within this time of its creation, ms. */
export const WAIT_LIMIT_MS = 86_400_000;
/** The start of that conversation's reason; the last reason follows. */
export const NOT_SENT = "It could not be sent within 24 hours, and was not sent. ";

/** Aborts the work on a conversation that was released and waits again. */
export class Released extends Error {
  override name = "Released";
}

/** Aborts the work on a conversation that its client stopped. */
export class ConversationStopped extends Error {
  override name = "ConversationStopped";
}

/** Aborts the work on a conversation because the service closes; the next start continues it. */
export class ServiceClosing extends Error {
  override name = "ServiceClosing";
}

/** Unfinished work, for operators. */
export interface StoreCounts {
  /** Conversations without a worker: PENDING ones, and those that were returned or lost their worker. */
  waiting: number;
  /** Conversations with a worker. */
  working: number;
  /** How long the first waiting conversation has been due, ms; 0 if none is due. */
  oldestDueMs: number;
  /** Requests that still have to be stopped at the upstream service. */
  cancellations: number;
  /** Live processes that do research. */
  workers: number;
  /** Whether the upstream service refuses all creates, so that new conversations wait. */
  isRefused: boolean;
}

/** A process's connections to a shared store; available even while the store is not. */
export interface StoreFigures {
  /** Connections that run a statement now. */
  connections: number;
  /** Callers waiting for a connection. */
  connectionsWaiting: number;
  /** Leases of this process that expired. */
  leasesLost: number;
}

/**
 * Holds everything that outlives a request: conversations with their queue, hourly counts, keys. The operations (§4) use
 * one half, the scheduler the other. Any number of processes may share the PostgreSQL store.
 *
 * Every method may reject with a StoreUnavailableError (nothing was done) or a StoreOutcomeUnknownError.
 */
export interface ConversationStore {
  readonly keys: KeyStore;
  /** Deleted with the conversation, and when it is stopped. */
  readonly exchanges: ExchangeStore;
  /** For the service's page, which shows the conversations of all keys. */
  readonly overview: Overview;
  readonly remote: RemoteRequests;

  /** Adds and counts a PENDING conversation, or neither. Resolves once both would survive a `kill -9`. */
  create(caller: Caller, job: ResearchJob): Promise<CreateResult>;
  /** Returns undefined if the caller may not see a conversation with that id; accepts any text. */
  get(caller: Caller, requestId: string): Promise<Conversation | undefined>;
  /** Also returns the output (JSON text) of a COMPLETED conversation and the `data` of its outcome. */
  output(
    caller: Caller,
    requestId: string,
  ): Promise<
    { conversation: Conversation; output?: string | undefined; data?: string | undefined } | undefined
  >;
  /** Stops a conversation that has not ended. Every stop counts in the hour, except one that the limit refuses. */
  stop(caller: Caller, requestId: string): Promise<StopResult>;

  /** Waits for the conversation due longest and makes it PROCESSING; one claim is valid at a time. Rejects with `signal.reason`. */
  claim(signal: AbortSignal): Promise<Claim>;
  /** Stores the progress (JSON text) for `get`. A crash may lose it; does nothing if the claim is invalid. */
  tell(claim: Claim, progress: string): Promise<void>;
  /** Writes the outcome with the store's time. Returns false and writes nothing if the claim is invalid: stopped, or lost. */
  end(claim: Claim, outcome: Outcome): Promise<boolean>;
  /** Returns a claim without an outcome: the conversation stays PROCESSING and is due again. Does nothing if it is lost. */
  returnClaim(claim: Claim): Promise<void>;

  /** Deletes at least the conversations that ended more than `ageMs` ago, and returns their number. */
  deleteEnded(ageMs: number): Promise<number>;
  readCounts(): Promise<StoreCounts>;
  /** Present if processes share the store. */
  readonly figures?: StoreFigures;
  /** Declares the key and limits of this process. Rejects with a ServiceStartError if another process has others. */
  agreeOn?(settings: string): Promise<void>;
  /** Declares the model of this process, and whether it reports dollars; budgets of dollars need both. */
  declareResearch(facts: ResearchFacts): Promise<void>;
  /** Resolves if states can be read now; rejects within a second or two if they cannot. */
  checkReady(): Promise<void>;
  /** Limits the wait for a silent store, so that it cannot delay `close`: after `ms` (2,000) every open call rejects. */
  closeAtOnce?(ms?: number): void;
  /** Frees all resources. The caller has ended or returned its claims before. */
  close(): Promise<void>;
}

/** An error of the store, not of the request. */
export class StoreError extends Error {}

/** The store could not be reached or written, and nothing was done. The caller may send the same request again. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
  /** The SQLSTATE, if PostgreSQL answered. */
  readonly sqlstate: string | undefined;
  constructor(message: string, { sqlstate, ...options }: ErrorOptions & { sqlstate?: string } = {}) {
    super(message, options);
    this.sqlstate = sqlstate;
  }
}

/** The connection to the store was lost during a write, so it is unknown whether the write was done. */
export class StoreOutcomeUnknownError extends StoreError {
  override name = "StoreOutcomeUnknownError";
}

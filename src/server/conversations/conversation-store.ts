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
  /** Of one that has ended. */
  readonly endedAt?: number | undefined;
  /** Of a FAILED one: a sentence for its client. Of a PENDING one: why another service has not taken it yet. */
  readonly reason?: string | undefined;
  /** Of one that is worked on: how far, as JSON text. */
  readonly progress?: string | undefined;
}

/** A conversation as the page of the service shows it. Times are epoch ms of the store's clock. */
export interface ListedConversation extends Conversation {
  /** The id of the key that it belongs to. */
  readonly keyId: string;
  /** When it was PROCESSING first. Undefined if it never was. */
  readonly startedAt?: number | undefined;
}

/** A key, as far as its limits are concerned. */
export type LimitedKey = Pick<ServiceKey, "id" | "limits" | "budgets">;

/** What counts against the limits of a key: numbers of conversations, and dollars. */
export interface KeyFigures {
  /** Creates in the window of its budget; if they are as many, for how long they are, ms. */
  created: number;
  createdFreeMs?: number | undefined;
  /** What conversations have cost that ended in the window of its dollars; if it is as much, for how long it is, ms. */
  said: number;
  saidFreeMs?: number | undefined;
  /** What has not ended, at the highest cost known of its model; `begun` is the part of it that runs. */
  reserved: number;
  begun: number;
  running: number;
  waiting: number;
  /** The highest cost known of the model that the next one is going to have; undefined while none is known. */
  price?: number | undefined;
  /** False: conversations do not say what they cost. */
  isMeasured: boolean;
}

/** The requests of one operation that count in the hour of a key (§8). */
export interface HourUse {
  used: number;
  /** When the next request is allowed, epoch ms of the store's clock; undefined if it is now. */
  nextAt?: number | undefined;
}

/** What a key has used of its limits. */
export interface KeyUse extends Pick<KeyFigures, "created" | "said" | "reserved" | "running"> {
  keyId: string;
  create: HourUse;
  stop: HourUse;
  /** When its next create is allowed, epoch ms of the store's clock; undefined if it is now, or if that is not known. */
  nextAt?: number | undefined;
}

/** What an outcome says that it cost. */
export interface Bill {
  model?: string | undefined;
  dollars?: number | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** What conversations cost that have ended: those of one key, day or model. */
export interface Spent {
  /** The id of the key; the day as `2026-01-31` (UTC); the model, empty if it is not known. */
  name: string;
  completed: number;
  failed: number;
  stopped: number;
  dollars: number;
  /** How many said dollars. */
  priced: number;
  inputTokens: number;
  outputTokens: number;
  /** Of how many nothing was said. */
  unsaid: number;
}

export type SpentBy = "key" | "day" | "model";

/** For how long back the page and the metrics show what was spent, ms. */
export const SPENT_MS = 30 * 86_400_000;

/** The most characters of a model's name. */
const LONGEST_MODEL = 200;

/** `data` is that of an outcome. Comes from outside: what is no amount is left out. */
export function readBill(data = "{}"): Bill {
  const { cost_dollars, usage, model } = JSON.parse(data);
  const amount = (value: unknown) =>
    typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
  const name = typeof model === "string" ? shortenLine(model.replaceAll("\0", ""), LONGEST_MODEL) : "";
  return {
    model: name || undefined,
    dollars: amount(cost_dollars ?? usage?.cost_dollars),
    inputTokens: amount(usage?.input_tokens),
    outputTokens: amount(usage?.output_tokens),
  };
}

/** How many conversations of a key are counted that stand before one, and that wait. */
export const MOST_COUNTED = 1_000;

/** What a store shows of all keys, to be read only. Every method may reject with a StoreUnavailableError. */
export interface Overview {
  /** How many conversations are in each state. */
  countStates(): Promise<Record<KnownStatus, number>>;
  /** The newest conversations first, at most `limit`, of one state or all; `at` is the store's own time, epoch ms. */
  listNewest(
    limit: number,
    state?: KnownStatus,
  ): Promise<{ at: number; conversations: ListedConversation[] }>;
  /** Undefined if no conversation has that id; any text may be asked for. */
  find(requestId: string): Promise<{ at: number; conversation: ListedConversation } | undefined>;
  /** What the conversation was created with. Undefined if there is none, or if it was not kept when it ended. */
  findJob(requestId: string): Promise<ResearchJob | undefined>;
  /** What these keys have used of their limits, in their order. */
  use(keys: readonly LimitedKey[]): Promise<{ at: number; uses: KeyUse[] }>;
  /** What was spent since the hour that was `sinceMs` ago began, or ever, by name; deleted conversations included. */
  spent(by: SpentBy, sinceMs?: number): Promise<Spent[]>;
}

/** Whose request it is: the key that the client sent, as far as a store has to know it. */
export interface Caller {
  /** The id of the key (see `shortenHash`); conversations and hourly counts belong to it. */
  keyId: string;
  /** §8, requests per hour; Infinity means no limit, and nothing is counted. */
  limits: HourlyLimit;
  /** What an added key may use up. */
  budgets?: KeyBudgets;
  /** Whether it sees its own conversations only. A service without added keys has one key, which sees all. */
  ownOnly: boolean;
}

/** The hour or a budget of the key is used up; nothing was done and nothing was counted. */
export interface RateLimited {
  kind: "rate-limited";
  /** How long until the next request is allowed, ms. Not a date: the store's clock may be another machine's. */
  retryAfterMs: number;
  /** The budget; without one it is the hour. */
  over?:
    | ({ what: "budget" } & Rate)
    /** `price`: undefined while no cost of the model is known. */
    | ({ what: "dollars" } & Rate & Pick<KeyFigures, "said" | "reserved" | "price">);
}

export type CreateResult =
  | { kind: "created"; createdAt: number }
  | RateLimited
  /** The key has a budget of dollars, and what does the research says no dollars. */
  | { kind: "not-measured" };

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
  remoteId?: string | undefined;
}

/** A request at another service that is to be stopped there. */
export interface Cancellation {
  requestId: string;
  remoteId: string;
  provider: string;
}

/** Of the creates at another service in 24 hours: those that are unknown count, those that were refused do not. */
export interface DayLimit {
  /** One key at one origin. */
  account: string;
  most: number;
}

/** What is known of requests at another service, so that each conversation is sent once, and stopped there too. */
export interface RemoteRequests {
  /** Undefined if none was begun. `mayComeMs`: for how long the id may still come from a process that lost its claim. */
  read(requestId: string): Promise<(RemoteRequest & { mayComeMs: number }) | undefined>;
  /**
   * Claims as `ConversationStore.claim` does: what was begun there ("begun"), or what was not ("new") and may be now. A new
   * one stays PENDING, and such a claim is no start. While creates are refused it waits, but for one try at a time.
   */
  claim(which: "begun" | "new", signal: AbortSignal): Promise<Claim>;
  /**
   * Says that the one create of a conversation is about to be sent. Resolves when that would outlive a `kill -9`. True for
   * the claim that said it, which alone may send it; false if another one did, or if the claim is not valid any more.
   * `computeFullMs`: nothing was said, since the day of the account is full for so long.
   */
  begin(
    claim: Claim,
    request: Omit<RemoteRequest, "remoteId">,
    day?: DayLimit,
  ): Promise<boolean | { fullMs: number }>;
  /**
   * Keeps the id that the create was answered with: the conversation is PROCESSING now. Valid after the claim was lost,
   * too. Resolves when it would outlive a `kill -9`. "stopped": the conversation was stopped meanwhile, and the
   * cancellation is kept. "ended": nothing is kept.
   */
  keep(claim: Claim, remoteId: string): Promise<"kept" | "stopped" | "ended">;
  /** Its create has provably created nothing: it waits again, in its place. Without a reason the last one stays. */
  release(claim: Claim, reason?: string): Promise<void>;
  /** The next stopped conversation of which it will never be known whether its create was carried out; each one once. */
  takeLost(): Promise<{ requestId: string; provider: string } | undefined>;
  /** Makes those FAILED that have waited unsent for WAIT_LIMIT_MS since they were created. */
  expire(): Promise<void>;
  /** Takes a cancellation at that origin, and hides it for `forMs` from every process; undefined if none is due. */
  takeCancellation(at: string, forMs: number): Promise<Cancellation | undefined>;
  /** That request needs no cancellation any more. */
  noteCancelled(requestId: string): Promise<void>;
  /** What the answer to the create of that claim says of other creates. Holds for all processes. */
  noteAnswered(claim: Claim, answer: CreateAnswer): Promise<void>;
  /** Why no new conversation of a key is taken just now; undefined if it is. */
  findRefusal(keyId: string): Promise<Refused | undefined>;
}

/** After so long since it was created, what could not be sent to another service is FAILED, ms. */
export const WAIT_LIMIT_MS = 86_400_000;
/** Why such a conversation is FAILED; the last reason follows. */
export const NOT_SENT = "It could not be sent within 24 hours, and was not sent. ";

/** Why the work on a conversation is over for now: it was released, and waits. */
export class Released extends Error {
  override name = "Released";
}

/** Why the work on a conversation is aborted: its client stopped it. */
export class ConversationStopped extends Error {
  override name = "ConversationStopped";
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
  /** Whether another service refuses creates: whatever they ask, the next ones wait. */
  isRefused: boolean;
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
  ): Promise<
    { conversation: Conversation; output?: string | undefined; data?: string | undefined } | undefined
  >;
  /** Stops a conversation that has not ended. Each stop counts, whatever it finds, but not a rate-limited one. */
  stop(caller: Caller, requestId: string): Promise<StopResult>;

  /** Waits for what is due longest, PROCESSING then; one claim of it is valid at a time. Rejects with `signal.reason`. */
  claim(signal: AbortSignal): Promise<Claim>;
  /** Says how far the work is, as JSON text, for `get`. It may be lost; nothing if the claim is not valid. */
  tell(claim: Claim, progress: string): Promise<void>;
  /** Writes the end, dated by the store. False, nothing written, if the claim is not valid: stopped, or lost. */
  end(claim: Claim, outcome: Outcome): Promise<boolean>;
  /** Gives up a claim without an end: the conversation is due again, and stays PROCESSING. Nothing if it is lost. */
  returnClaim(claim: Claim): Promise<void>;

  /** Deletes at least the conversations that ended more than `ageMs` ago, and resolves with how many. */
  deleteEnded(ageMs: number): Promise<number>;
  readCounts(): Promise<StoreCounts>;
  /** Of a store that processes share. */
  readonly figures?: StoreFigures;
  /** Says which key and limits this process runs with. Rejects with a ServiceStartError if another process has others. */
  agreeOn?(settings: string): Promise<void>;
  /** Says what does the research of this process: what a budget of dollars needs to know of it. */
  declareResearch(facts: ResearchFacts): Promise<void>;
  /** Resolves if states can be read just now, rejects within a second or two if they cannot. */
  checkReady(): Promise<void>;
  /** A store that can be silent does not delay `close`: what it has not answered `ms` (2,000) later rejects from then on. */
  closeAtOnce?(ms?: number): void;
  /** Frees everything. The caller has ended or given back its claims before. */
  close(): Promise<void>;
}

/** A trouble of the store, not of the request. */
export class StoreError extends Error {}

/** The store could not be reached or written, and nothing was done: the same request may be sent again. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
  /** What PostgreSQL said, if it answered. */
  readonly sqlstate: string | undefined;
  constructor(message: string, { sqlstate, ...options }: ErrorOptions & { sqlstate?: string } = {}) {
    super(message, options);
    this.sqlstate = sqlstate;
  }
}

/** The store was lost while it wrote; whether the write is there cannot be known now. */
export class StoreOutcomeUnknownError extends StoreError {
  override name = "StoreOutcomeUnknownError";
}

import type { CreateBody, Data, Operation } from "../../core/protocol/conversation.js";

/** A request without the address of the service and the key. */
export interface DialectRequest {
  method: string;
  /** Below the base URL, beginning with a slash. */
  path: string;
  /** Whether `Content-Type: application/json` goes along. */
  json: boolean;
  /** Others than those of every request. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Why a service said no. */
export type RefusalKind =
  | "invalid-input"
  | "unauthenticated"
  /** A state that may be read later: it says nothing of the key, and nothing of the request. */
  | "withheld"
  | "not-found"
  | "refused"
  | "rate-limited"
  /** No money is left: to wait does not help. */
  | "no-credit";

/** An error in the service's own words. */
export interface ServiceError {
  /** Undefined if the service gives no code word. */
  code: string | undefined;
  message: string;
  /** What it means; undefined if its HTTP status says that. */
  kind: RefusalKind | undefined;
  /** Seconds to wait, where the body says so. */
  retryAfter?: number | undefined;
}

/**
 * A pure description of how one service is spoken to: no clock, no network, no settings. What is repeated and what is
 * unknown is not its business: a 5xx, and a 408, 409, 425 or 499 to a create, are decided before it is asked.
 */
export interface Dialect {
  /** As `--provider` takes it. */
  readonly name: string;
  /** The header that carries the key, and what stands before the key in it. */
  readonly keyHeader: readonly [name: string, prefix: string];
  /** Whether an answer about a request holds its result as soon as it has ended. */
  readonly statusIsResult: boolean;
  /** Whether a request may be answered 404 for a moment after its create. */
  readonly mayLag: boolean;
  /** Milliseconds between two polls of one process, at least. */
  readonly betweenPollsMs: number;
  /** Whether creates and stops count as polls, and no two requests start together. */
  readonly pacesAll?: true;
  /** §4.1. Throws InputError for what the service cannot be asked. */
  create(body: CreateBody): DialectRequest;
  /** The request of an operation on a well-formed id; undefined if the service has no such operation. */
  request(operation: Exclude<Operation, "create">, requestId: string): DialectRequest | undefined;
  /** An id that no request has: to ask for its state costs nothing and tries a key. */
  readonly probeId: string;
  /** An id whose state holds the service's `models`, with the day on which each ends; absent if it lists none. */
  readonly modelsId?: string;
  /** Reads a parsed body as an error of this service. `retryAfter`: seconds, of a header. Never throws. */
  fault(
    operation: Operation,
    httpStatus: number,
    answer: unknown,
    retryAfter?: number,
  ): ServiceError | undefined;
  /** The data of a success in the interface's words, with its own fields; a string says what it lacks. Never throws. */
  data(operation: Operation, answer: unknown): Data | string;
  /** The id in an answer to a create that need not be whole, nor a success. */
  salvage(text: string): string | undefined;
}

/** A request that a service cannot be asked: nothing is sent. The message names the service. */
export class InputError extends Error {
  constructor(
    message: string,
    /** What to do about it. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

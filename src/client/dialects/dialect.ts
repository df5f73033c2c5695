import type { CreateBody, Data, Operation } from "../../core/protocol/conversation.js";

/** A request without the service's address and the key. */
export interface DialectRequest {
  method: string;
  /** Below the base URL, beginning with a slash. */
  path: string;
  /** Whether to send `Content-Type: application/json`. */
  json: boolean;
  /** Headers beside those of every request. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Why a service refused a request. */
export type RefusalKind =
  | "invalid-input"
  | "unauthenticated"
  /** The state may be readable later; the refusal is about neither the key nor the request. */
  | "withheld"
  | "not-found"
  | "refused"
  | "rate-limited"
  /** The account has no credit left; waiting does not help. */
  | "no-credit";

/** An error in the service's own words. */
export interface ServiceError {
  /** Undefined if the service gives no code word. */
  code: string | undefined;
  message: string;
  /** The meaning of the error; undefined if the HTTP status decides. */
  kind: RefusalKind | undefined;
  /** The wait that the body asks for, in seconds. */
  retryAfter?: number | undefined;
}

/**
 * The requests and answers of one service, as pure functions: no clock, no network, no settings. A dialect does not decide
 * what to retry and which outcome is unknown: the caller handles a 5xx, and a 408, 409, 425 or 499 to a create, itself.
 */
export interface Dialect {
  /** The name for `--provider`. */
  readonly name: string;
  /** The header of the key, and the text before the key in it. */
  readonly keyHeader: readonly [name: string, prefix: string];
  /** Whether the status of a finished request contains its result. */
  readonly statusIsResult: boolean;
  /** Whether the service may answer 404 for a moment after a create. */
  readonly mayLag: boolean;
  /** The least time between two polls of one process, in milliseconds. */
  readonly betweenPollsMs: number;
  /** Whether creates and stops count as polls, so that no two requests start at the same time. */
  readonly pacesAll?: true;
  /** Builds a create (§4.1). Throws InputError if the service does not support the request. */
  create(body: CreateBody): DialectRequest;
  /** Builds the request of an operation on a well-formed id; undefined if the service lacks the operation. */
  request(operation: Exclude<Operation, "create">, requestId: string): DialectRequest | undefined;
  /** An id that no request has: reading its state tests a key at no cost. */
  readonly probeId: string;
  /** An id whose state contains the service's `models`, with the day on which each ends; absent if the service lists no models. */
  readonly modelsId?: string;
  /** Reads a parsed body as an error of this service; undefined if it is not one. `retryAfter`: seconds, from a header. Never throws. */
  fault(
    operation: Operation,
    httpStatus: number,
    answer: unknown,
    retryAfter?: number,
  ): ServiceError | undefined;
  /** Reads the data of a success with the interface's field names, beside the service's own; a string says what is missing. Never throws. */
  data(operation: Operation, answer: unknown): Data | string;
  /** Finds the id in an answer to a create, even if the answer is incomplete or an error. */
  salvage(text: string): string | undefined;
}

/** A service does not support a request, so nothing was sent. The message names the service. */
export class InputError extends Error {
  constructor(
    message: string,
    /** What the user can do about it. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

import type { CreateBody, Data, Operation } from "../../core/protocol/conversation.js";

/** A request without the service's address and the key. */
export interface DialectRequest {
  method: string;
  /** The path below the base URL; begins with a slash. */
  path: string;
  /** Whether to send `Content-Type: application/json`. */
  json: boolean;
  /** Headers to send in addition to those of every request. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Why a service refused a request. */
export type RefusalKind =
  | "invalid-input"
  | "unauthenticated"
  /** The service does not show the state at present, although the key and the id are valid; a later attempt may succeed. */
  | "withheld"
  | "not-found"
  | "refused"
  | "rate-limited"
  /** The account has no credit left; waiting does not help. */
  | "no-credit";

/** An error that a service reported. */
export interface ServiceError {
  /** The service's own code; undefined if the service sends none. */
  code: string | undefined;
  message: string;
  /** What the error means; undefined if the caller has to derive it from the HTTP status. */
  kind: RefusalKind | undefined;
  /** Seconds to wait before the next attempt; undefined if the service names no wait. */
  retryAfter?: number | undefined;
}

/**
 * Builds the requests of one service and reads its answers, in pure functions: no clock, no network, no settings. The
 * caller decides what to retry, and calls the outcome of a create call unknown after a 5xx, 408, 409, 425 or 499.
 */
export interface Dialect {
  /** The name for `--provider`. */
  readonly name: string;
  /** The header that carries the key, and the text before the key in that header. */
  readonly keyHeader: readonly [name: string, prefix: string];
  /** Whether the status answer of a finished request contains its result. */
  readonly statusIsResult: boolean;
  /** Whether the service may answer 404 for a new request in the first moments after its create call. */
  readonly mayLag: boolean;
  /** Minimum time between two polls of one process, in milliseconds. */
  readonly betweenPollsMs: number;
  /** Whether `betweenPollsMs` also separates create calls and stops from other requests. */
  readonly pacesAll?: true;
  /** Builds a create request (§4.1). Throws InputError if the service does not support what the body asks for. */
  create(body: CreateBody): DialectRequest;
  /** Builds the request of an operation on a well-formed id; undefined if the service lacks the operation. */
  request(operation: Exclude<Operation, "create">, requestId: string): DialectRequest | undefined;
  /** An id that belongs to no request: reading its state tests a key at no cost. */
  readonly probeId: string;
  /** Reads the error in a parsed body; undefined if the body is not an error of this service. `retryAfter`: seconds, from a header. Never throws. */
  fault(
    operation: Operation,
    httpStatus: number,
    answer: unknown,
    retryAfter?: number,
  ): ServiceError | undefined;
  /** Reads the data of a successful answer, with the interface's field names; of an invalid answer, a text that says what is missing. Never throws. */
  data(operation: Operation, answer: unknown): Data | string;
  /** Finds the request id in an answer to a create call, even if the answer is cut off or is an error. */
  salvage(text: string): string | undefined;
}

/** Thrown before anything is sent, if the service does not support a request. The message names the service. */
export class InputError extends Error {
  constructor(
    message: string,
    /** What the user can do about the error. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

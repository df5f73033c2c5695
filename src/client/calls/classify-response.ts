import {
  getHeader,
  type HttpAnswer,
  type RequestFailure,
  readResponseDate,
  readRetryAfter,
  readSecondsToWait,
} from "../../core/http/exchange.js";
import type { Data, Operation } from "../../core/protocol/conversation.js";
import type { Dialect, RefusalKind, ServiceError } from "../dialects/dialect.js";
import { UNPAID } from "../dialects/reading.js";
import { getMaxBytes, parseBody } from "./body.js";
import {
  CODE_OF_REFUSAL,
  type ErrorFacts,
  OutcomeUnknownError,
  RefusedError,
  type ResearchError,
  UnreachableError,
} from "./errors.js";
import {
  AMBIGUOUS_STATUSES,
  FAULTS,
  type FaultName,
  limitPollWait,
  MISDIRECTED_STATUS,
} from "./failure-policy.js";

/** A success. Its data remembers the text that it was parsed from, see `stringifyExact`. */
export interface Success {
  kind: "data";
  data: Data;
  /** The wait that the service asks for before the next poll, in milliseconds; 0 if it asks for none. */
  waitMs: number;
  /** The answer, if it is small: the next answer is not parsed again if it is the same, byte for byte. */
  answer?: HttpAnswer;
}

/** The meaning of an exchange. */
export type Classification =
  | Success
  /** Conclusive: the service refused the request. */
  | { kind: "refused"; error: RefusedError }
  /** Inconclusive: `FAULTS[fault]` says what each operation does next. */
  | { kind: "fault"; fault: FaultName; sent: boolean; error: ResearchError };

/** Any classification but a success. */
export type Unsuccessful = Exclude<Classification, Success>;

export interface CallContext {
  dialect: Dialect;
  operation: Operation;
  /** The id in the path; undefined for create. */
  requestId?: string | undefined;
  /** `METHOD URL`, for messages. */
  target: string;
  /** The host, and the proxy if there is one, for messages. */
  peer: string;
  /** A hint, if the address is a provider's and the dialect is the interface's. */
  addressHint?: string | undefined;
  /** Epoch ms, to read a `Retry-After` date against. */
  now: number;
}

/** Classifies an answer by §7 and its dialect; allows for answers of an intermediary. Pure. */
export function classifyResponse(answer: HttpAnswer | RequestFailure, call: CallContext): Classification {
  const { dialect, operation } = call;
  const facts: ErrorFacts = {
    requestId: call.requestId,
    retryAfter: readRetryAfter(answer.headers, call.now),
  };
  if (answer.kind === "failure") return createFaulty(answer.fault, answer.sent, answer.message, call, facts);
  const allFacts: ErrorFacts = { ...facts, httpStatus: answer.status };
  const body = parseBody(answer, getMaxBytes(operation, dialect));
  if (body.kind === "oversized")
    return createFaulty("oversized", true, "the answer is too large or too deeply nested", call, allFacts);
  const value = body.kind === "json" ? body.value : undefined;
  const serviceError = dialect.fault(operation, answer.status, value, facts.retryAfter);
  const bodyWait = serviceError?.retryAfter;
  const seconds = bodyWait && readSecondsToWait(bodyWait, readResponseDate(answer.headers, call.now));
  // Take the later time: a request that comes too early counts against the limit.
  allFacts.retryAfter = pickLater(facts.retryAfter, seconds);
  if (answer.status >= 300) return classifyError(answer, serviceError, call, allFacts);
  if (serviceError) return createRefusal(serviceError.kind ?? "refused", serviceError, call, allFacts);
  const data = dialect.data(operation, value);
  if (typeof data === "string") return createFaulty("unreadable", true, data, call, allFacts);
  const answeredId = data.request_id;
  if (call.requestId !== undefined && answeredId !== undefined && answeredId !== call.requestId) {
    return createFaulty("wrong-request", true, "the answer is about another request", call, allFacts);
  }
  return { kind: "data", data, waitMs: readWaitMs(answer, call.now) };
}

/** Returns the wait before the next poll that an answer asks for, in milliseconds; 0 if it asks for none or is invalid. `now`: epoch ms. */
export function readWaitMs({ headers }: Pick<HttpAnswer, "headers">, now: number): number {
  const retryAfter = readRetryAfter(headers, now) ?? 0;
  const pollAfterMs = getHeader(headers, "openai-poll-after-ms")?.trim() ?? "";
  const ms = /^\d+$/.test(pollAfterMs) ? Number(pollAfterMs) : 0;
  return limitPollWait(Math.max(retryAfter * 1_000, ms));
}

function pickLater(a: number | undefined, b: number | undefined): number | undefined {
  return a !== undefined && b !== undefined ? Math.max(a, b) : (a ?? b);
}

/** Classifies an answer with a status of 300 or more. */
function classifyError(
  answer: HttpAnswer,
  serviceError: ServiceError | undefined,
  call: CallContext,
  facts: ErrorFacts,
): Classification {
  const { status, headers } = answer;
  const { operation } = call;
  const title = findTitle(answer);
  const page = title === undefined ? "" : `: ${title}`;
  const createFault = (name: FaultName, why: string, more: ErrorFacts = {}) =>
    createFaulty(name, true, why + page, call, { ...facts, ...more }, serviceError);
  if (status >= 500) return createFault("unavailable", `the service is not available (HTTP ${status})`);
  if (status < 400) {
    const location = getHeader(headers, "location");
    const to = location ? ` to ${location}` : "";
    const name = status === 303 ? "see-other" : "redirected";
    return createFault(name, `a redirect${to} was not followed (HTTP ${status})`);
  }
  if (status === 405 && (operation === "status" || operation === "output")) {
    const hint = `If the service needs another method, set it with \`research config set ${operation}-method POST\`.`;
    return createFault("wrong-method", "the service does not accept this method (HTTP 405)", { hint });
  }
  // A service may send 408 for a result that is not ready yet; for anything else these statuses say too little.
  const isAboutResult = operation === "output" && serviceError?.kind !== undefined;
  if ((AMBIGUOUS_STATUSES.has(status) && !isAboutResult) || (status === MISDIRECTED_STATUS && !serviceError))
    return createFault("ambiguous", `the service gave no result (HTTP ${status})`);
  // At a provider 402, 432 and 433 mean that no credit is left; the interface does not define them.
  const isUnpaid = UNPAID.has(status) && call.dialect.name !== "research";
  const kind =
    serviceError?.kind ?? (isUnpaid ? "no-credit" : KIND_OF_STATUS[status]) ?? (serviceError && "refused");
  if (kind) return createRefusal(kind, serviceError, call, facts, page);
  return createFault("stray", `HTTP ${status}, and not from the service itself`);
}

function createRefusal(
  kind: RefusalKind,
  serviceError: ServiceError | undefined,
  call: CallContext,
  facts: ErrorFacts,
  page = "",
): Classification {
  const isNoService = !serviceError && kind === "not-found";
  const hint = isNoService
    ? "Is the base URL right? `research config list` shows where it comes from."
    : undefined;
  const message = serviceError?.message || `HTTP ${facts.httpStatus} for ${call.target}${page}`;
  // Missing credit has one code, whatever code a provider uses for it.
  const code = (kind === "no-credit" ? undefined : serviceError?.code) ?? CODE_OF_REFUSAL[kind];
  const error = new RefusedError(kind, serviceError !== undefined, code, message, { ...facts, hint });
  return { kind: "refused", error };
}

/** Returns the title of an HTML page that came in place of an answer; undefined if there is no title. */
function findTitle({ headers, body }: HttpAnswer): string | undefined {
  if (!/html/i.test(getHeader(headers, "content-type") ?? "")) return undefined;
  const [, title = ""] = /<title[^>]{0,200}>([^<]{1,200})/i.exec(body.toString("utf8", 0, 65_536)) ?? [];
  return title.replace(/\s+/g, " ").trim() || undefined;
}

function createFaulty(
  fault: FaultName,
  sent: boolean,
  why: string,
  { operation, peer, target, addressHint }: CallContext,
  facts: ErrorFacts,
  serviceError?: ServiceError,
): Classification {
  const toFault = (error: ResearchError) => ({ kind: "fault", fault, sent, error }) as const;
  if (!sent) {
    const created = operation === "create" ? "Nothing was created. " : "";
    const trust = /certificate/.test(why)
      ? "NODE_EXTRA_CA_CERTS names a file of certificates to trust. "
      : "";
    const hint = created + (addressHint ?? `${trust}\`research doctor\` finds the cause.`);
    const message = `${peer} cannot be reached: ${why}`;
    return toFault(new UnreachableError("UNREACHABLE", message, { ...facts, hint, unsent: true }));
  }
  const message = `${target}: ${why}`;
  if (operation === "create" && FAULTS[fault].create === "unknown")
    return toFault(new OutcomeUnknownError(message, facts));
  const code = serviceError?.code ?? (UNANSWERED.has(fault) ? "UNREACHABLE" : "BAD_RESPONSE");
  return toFault(new UnreachableError(code, message, facts));
}

const UNANSWERED: ReadonlySet<FaultName> = new Set([
  "unreachable",
  "unconnectable",
  "lost",
  "timeout",
  "unavailable",
]);

/** HTTP statuses that need no body to be understood, from the service or from a proxy. */
const KIND_OF_STATUS: Readonly<Record<number, RefusalKind>> = {
  401: "unauthenticated",
  403: "unauthenticated",
  404: "not-found",
  429: "rate-limited",
  413: "invalid-input",
  414: "invalid-input",
  431: "invalid-input",
};

import {
  getHeader,
  type HttpAnswer,
  parseResponseDate,
  parseRetryAfter,
  parseSecondsToWait,
  type RequestFailure,
} from "../../core/http/send-request.js";
import type { Data, Operation } from "../../core/protocol/conversation.js";
import { UNPAID } from "../dialects/classify-provider-error.js";
import type { Dialect, RefusalKind, ServiceError } from "../dialects/dialect.js";
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
  capPollWait,
  FAULTS,
  type FaultName,
  MISDIRECTED_STATUS,
} from "./failure-policy.js";
import { getMaxResponseBytes, parseResponseBody } from "./parse-response-body.js";

/** A successful answer. `stringifyExact` returns the original text of `data`. */
export interface Success {
  kind: "data";
  data: Data;
  /** Milliseconds that the service asks to wait before the next poll; 0 if it does not ask. */
  waitMs: number;
  /** The raw answer, kept if it is small: if the next answer is identical, it is not parsed again. */
  answer?: HttpAnswer;
}

/** What an exchange means for the request. */
export type Classification =
  | Success
  /** Conclusive: the service refused the request. */
  | { kind: "refused"; error: RefusedError }
  /** Inconclusive: `FAULTS[fault]` determines what each operation does next. */
  | { kind: "fault"; fault: FaultName; sent: boolean; error: ResearchError };

/** A classification other than a success. */
export type Unsuccessful = Exclude<Classification, Success>;

export interface CallContext {
  dialect: Dialect;
  operation: Operation;
  /** The id in the path; undefined for a create call. */
  requestId?: string | undefined;
  /** `METHOD URL`, for messages. */
  target: string;
  /** The host, and the proxy if one is used, for messages. */
  peer: string;
  /** A hint if the address is a provider's, but the dialect in use is the interface's. */
  addressHint?: string | undefined;
  /** Current time in epoch milliseconds; a date in `Retry-After` is compared with it. */
  now: number;
}

/** Classifies an answer or a failed exchange by §7 and the dialect; also recognizes answers from an intermediary. Pure. */
export function classifyResponse(answer: HttpAnswer | RequestFailure, call: CallContext): Classification {
  const { dialect, operation } = call;
  const facts: ErrorFacts = {
    requestId: call.requestId,
    retryAfter: parseRetryAfter(answer.headers, call.now),
  };
  if (answer.kind === "failure") return buildFault(answer.fault, answer.sent, answer.message, call, facts);
  const allFacts: ErrorFacts = { ...facts, httpStatus: answer.status };
  const body = parseResponseBody(answer, getMaxResponseBytes(operation, dialect));
  if (body.kind === "oversized")
    return buildFault("oversized", true, "the answer is too large or too deeply nested", call, allFacts);
  const value = body.kind === "json" ? body.value : undefined;
  const serviceError = dialect.fault(operation, answer.status, value, facts.retryAfter);
  const bodyWait = serviceError?.retryAfter;
  const seconds = bodyWait && parseSecondsToWait(bodyWait, parseResponseDate(answer.headers, call.now));
  // Use the later of the two times, because a request that comes too early counts against the limit.
  allFacts.retryAfter = pickLargerDefined(facts.retryAfter, seconds);
  if (answer.status >= 300) return classifyErrorResponse(answer, serviceError, call, allFacts);
  if (serviceError) return buildRefusal(serviceError.kind ?? "refused", serviceError, call, allFacts);
  const data = dialect.data(operation, value);
  if (typeof data === "string") return buildFault("unreadable", true, data, call, allFacts);
  const answeredId = data.request_id;
  if (call.requestId !== undefined && answeredId !== undefined && answeredId !== call.requestId) {
    return buildFault("wrong-request", true, "the answer is about another request", call, allFacts);
  }
  return { kind: "data", data, waitMs: parsePollWaitMs(answer, call.now) };
}

/** Returns the milliseconds that an answer asks to wait before the next poll; 0 if it names no valid wait. `now`: epoch ms. */
export function parsePollWaitMs({ headers }: Pick<HttpAnswer, "headers">, now: number): number {
  const retryAfter = parseRetryAfter(headers, now) ?? 0;
  const pollAfterMs = getHeader(headers, "openai-poll-after-ms")?.trim() ?? "";
  const ms = /^\d+$/.test(pollAfterMs) ? Number(pollAfterMs) : 0;
  return capPollWait(Math.max(retryAfter * 1_000, ms));
}

function pickLargerDefined(a: number | undefined, b: number | undefined): number | undefined {
  return a !== undefined && b !== undefined ? Math.max(a, b) : (a ?? b);
}

/** Classifies an answer with a status of 300 or more. */
function classifyErrorResponse(
  answer: HttpAnswer,
  serviceError: ServiceError | undefined,
  call: CallContext,
  facts: ErrorFacts,
): Classification {
  const { status, headers } = answer;
  const { operation } = call;
  const title = findHtmlTitle(answer);
  const page = title === undefined ? "" : `: ${title}`;
  const createFault = (name: FaultName, why: string, more: ErrorFacts = {}) =>
    buildFault(name, true, why + page, call, { ...facts, ...more }, serviceError);
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
  // A 408 may mean that the result is not ready yet. Otherwise these statuses leave the outcome open.
  const isAboutResult = operation === "output" && serviceError?.kind !== undefined;
  if ((AMBIGUOUS_STATUSES.has(status) && !isAboutResult) || (status === MISDIRECTED_STATUS && !serviceError))
    return createFault("ambiguous", `the service gave no result (HTTP ${status})`);
  // At a provider, 402, 432 and 433 mean that no credit is left; the interface does not define these statuses.
  const isUnpaid = UNPAID.has(status) && call.dialect.name !== "research";
  const kind =
    serviceError?.kind ?? (isUnpaid ? "no-credit" : KIND_OF_STATUS[status]) ?? (serviceError && "refused");
  if (kind) return buildRefusal(kind, serviceError, call, facts, page);
  return createFault("stray", `HTTP ${status}, and not from the service itself`);
}

function buildRefusal(
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
  // Missing credit always gets our code, because each provider uses a different one.
  const code = (kind === "no-credit" ? undefined : serviceError?.code) ?? CODE_OF_REFUSAL[kind];
  const error = new RefusedError(kind, serviceError !== undefined, code, message, { ...facts, hint });
  return { kind: "refused", error };
}

/** Returns the title of an HTML page that was sent instead of an API answer; undefined if there is no title. */
function findHtmlTitle({ headers, body }: HttpAnswer): string | undefined {
  if (!/html/i.test(getHeader(headers, "content-type") ?? "")) return undefined;
  const [, title = ""] = /<title[^>]{0,200}>([^<]{1,200})/i.exec(body.toString("utf8", 0, 65_536)) ?? [];
  return title.replace(/\s+/g, " ").trim() || undefined;
}

function buildFault(
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

/** What an HTTP status means without a readable body, whether the service or a proxy sent it. */
const KIND_OF_STATUS: Readonly<Record<number, RefusalKind>> = {
  401: "unauthenticated",
  403: "unauthenticated",
  404: "not-found",
  429: "rate-limited",
  413: "invalid-input",
  414: "invalid-input",
  431: "invalid-input",
};

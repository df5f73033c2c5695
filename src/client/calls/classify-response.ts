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

/** A success. Its data remembers the text it was read from, see `stringifyExact`. */
export interface Success {
  kind: "data";
  data: Data;
  /** How long the service asked to wait before the next poll, in milliseconds; 0 if it did not. */
  waitMs: number;
  /** The small answer that it was read from: the same one, byte for byte, is not read again. */
  answer?: HttpAnswer;
}

/** What an exchange means. */
export type Classification =
  | Success
  /** Conclusive: the service said no. */
  | { kind: "refused"; error: RefusedError }
  /** Inconclusive: `FAULTS[fault]` says what follows. */
  | { kind: "fault"; fault: FaultName; sent: boolean; error: ResearchError };

/** Any classification but a success. */
export type Unsuccessful = Exclude<Classification, Success>;

export interface Asked {
  dialect: Dialect;
  operation: Operation;
  /** The id in the path; undefined for create. */
  requestId?: string | undefined;
  /** `METHOD URL`, for messages. */
  target: string;
  /** What connections are made to, in words. */
  peer: string;
  /** What to do about a provider's address that is spoken to as if it had the interface. */
  meant?: string | undefined;
  /** Epoch ms, to read a `Retry-After` date against. */
  now: number;
}

/** Reads an answer by §7, by its dialect, and by what an intermediary may have put in its place. Pure. */
export function classifyResponse(answer: HttpAnswer | RequestFailure, asked: Asked): Classification {
  const { dialect, operation } = asked;
  const facts: ErrorFacts = {
    requestId: asked.requestId,
    retryAfter: readRetryAfter(answer.headers, asked.now),
  };
  if (answer.kind === "failure") return createFaulty(answer.fault, answer.sent, answer.message, asked, facts);
  const knownFacts: ErrorFacts = { ...facts, httpStatus: answer.status };
  const body = parseBody(answer, getMaxBytes(operation, dialect));
  if (body.kind === "oversized")
    return createFaulty("oversized", true, "the answer is too large or too deeply nested", asked, knownFacts);
  const value = body.kind === "json" ? body.value : undefined;
  const serviceError = dialect.fault(operation, answer.status, value, facts.retryAfter);
  const inBody = serviceError?.retryAfter;
  const seconds = inBody && readSecondsToWait(inBody, readResponseDate(answer.headers, asked.now));
  // The later of two times: to ask too early costs one more of the limit.
  knownFacts.retryAfter = pickLater(facts.retryAfter, seconds);
  if (answer.status >= 300) return classifyError(answer, serviceError, asked, knownFacts);
  if (serviceError) return createRefusal(serviceError.kind ?? "refused", serviceError, asked, knownFacts);
  const data = dialect.data(operation, value);
  if (typeof data === "string") return createFaulty("unreadable", true, data, asked, knownFacts);
  const about = data.request_id;
  if (asked.requestId !== undefined && about !== undefined && about !== asked.requestId) {
    return createFaulty("wrong-request", true, "the answer is about another request", asked, knownFacts);
  }
  return { kind: "data", data, waitMs: waitAsked(answer, asked.now) };
}

/** Returns for how many milliseconds an answer asks to wait before the next poll; 0 if it does not, or makes no sense. `now`: epoch ms. */
export function waitAsked({ headers }: Pick<HttpAnswer, "headers">, now: number): number {
  const retryAfter = readRetryAfter(headers, now) ?? 0;
  const pollAfterMs = getHeader(headers, "openai-poll-after-ms")?.trim() ?? "";
  const ms = /^\d+$/.test(pollAfterMs) ? Number(pollAfterMs) : 0;
  return limitPollWait(Math.max(retryAfter * 1_000, ms));
}

function pickLater(one: number | undefined, other: number | undefined): number | undefined {
  return one !== undefined && other !== undefined ? Math.max(one, other) : (one ?? other);
}

/** Anything from 300 up. */
function classifyError(
  answer: HttpAnswer,
  serviceError: ServiceError | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const { status, headers } = answer;
  const { operation } = asked;
  const title = findTitle(answer);
  const page = title === undefined ? "" : `: ${title}`;
  const createFault = (name: FaultName, why: string, more: ErrorFacts = {}) =>
    createFaulty(name, true, why + page, asked, { ...facts, ...more }, serviceError);
  if (status >= 500) return createFault("unavailable", `the service is not available (HTTP ${status})`);
  if (status < 400) {
    const location = getHeader(headers, "location");
    const to = location ? ` to ${location}` : "";
    const name = status === 303 ? "see-other" : "redirected";
    return createFault(name, `a redirect${to} was not followed (HTTP ${status})`);
  }
  if (status === 405 && (operation === "status" || operation === "output")) {
    const hint = `If the service wants another method, \`research config set ${operation}-method POST\` sets it.`;
    return createFault("wrong-method", "the service does not take this method (HTTP 405)", { hint });
  }
  // A service may use 408 for a result that is not there yet; to all else these say too little.
  const isAboutResult = operation === "output" && serviceError?.kind !== undefined;
  if ((AMBIGUOUS_STATUSES.has(status) && !isAboutResult) || (status === MISDIRECTED_STATUS && !serviceError))
    return createFault("ambiguous", `the service gave no result (HTTP ${status})`);
  // The interface document does not have 402, 432 and 433. At a provider they mean that no money is left.
  const isUnpaid = UNPAID.has(status) && asked.dialect.name !== "research";
  const kind =
    serviceError?.kind ?? (isUnpaid ? "no-credit" : KIND_OF_STATUS[status]) ?? (serviceError && "refused");
  if (kind) return createRefusal(kind, serviceError, asked, facts, page);
  return createFault("stray", `HTTP ${status} without a word from the service itself`);
}

function createRefusal(
  kind: RefusalKind,
  serviceError: ServiceError | undefined,
  asked: Asked,
  facts: ErrorFacts,
  page = "",
): Classification {
  const isNoService = !serviceError && kind === "not-found";
  const hint = isNoService
    ? "Is the base URL right? `research config list` shows where it comes from."
    : undefined;
  const message = serviceError?.message || `HTTP ${facts.httpStatus} for ${asked.target}${page}`;
  // What has no money has one name, whatever word a provider has for it.
  const code = (kind === "no-credit" ? undefined : serviceError?.code) ?? CODE_OF_REFUSAL[kind];
  const error = new RefusedError(kind, serviceError !== undefined, code, message, { ...facts, hint });
  return { kind: "refused", error };
}

/** Returns the title of a page that came in the place of an answer; undefined without one. */
function findTitle({ headers, body }: HttpAnswer): string | undefined {
  if (!/html/i.test(getHeader(headers, "content-type") ?? "")) return undefined;
  const [, title = ""] = /<title[^>]{0,200}>([^<]{1,200})/i.exec(body.toString("utf8", 0, 65_536)) ?? [];
  return title.replace(/\s+/g, " ").trim() || undefined;
}

function createFaulty(
  fault: FaultName,
  sent: boolean,
  why: string,
  { operation, peer, target, meant }: Asked,
  facts: ErrorFacts,
  serviceError?: ServiceError,
): Classification {
  const wrapFault = (error: ResearchError) => ({ kind: "fault", fault, sent, error }) as const;
  if (!sent) {
    const created = operation === "create" ? "Nothing was created. " : "";
    const trust = /certificate/.test(why)
      ? "NODE_EXTRA_CA_CERTS names a file of certificates to trust. "
      : "";
    const hint = created + (meant ?? `${trust}\`research doctor\` finds the cause.`);
    const message = `${peer} cannot be reached: ${why}`;
    return wrapFault(new UnreachableError("UNREACHABLE", message, { ...facts, hint, unsent: true }));
  }
  const message = `${target}: ${why}`;
  if (operation === "create" && FAULTS[fault].create === "unknown")
    return wrapFault(new OutcomeUnknownError(message, facts));
  const code = serviceError?.code ?? (UNANSWERED.has(fault) ? "UNREACHABLE" : "BAD_RESPONSE");
  return wrapFault(new UnreachableError(code, message, facts));
}

const UNANSWERED: ReadonlySet<FaultName> = new Set([
  "unreachable",
  "unconnectable",
  "lost",
  "timeout",
  "unavailable",
]);

/** HTTP statuses that say enough by themselves, from the service or from a proxy. */
const KIND_OF_STATUS: Readonly<Record<number, RefusalKind>> = {
  401: "unauthenticated",
  403: "unauthenticated",
  404: "not-found",
  429: "rate-limited",
  413: "invalid-input",
  414: "invalid-input",
  431: "invalid-input",
};

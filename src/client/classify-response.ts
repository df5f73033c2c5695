import type { Dialect, RefusalKind, ServiceError } from "../dialects/dialect.js";
import type { Data } from "../protocol/conversation.js";
import type { Operation } from "../protocol/endpoints.js";
import {
  CODE_OF_REFUSAL,
  type ErrorFacts,
  OutcomeUnknownError,
  RefusedError,
  type ResearchError,
  UnreachableError,
} from "./errors.js";
import { AMBIGUOUS_STATUSES, FAULTS, type FaultName, MISDIRECTED_STATUS } from "./failure-policy.js";
import { maxBytes, parseBody } from "./http/body.js";
import { type HttpAnswer, headerOf, type RequestFailure } from "./http/transport.js";
import { readPollAfter, readRetryAfter } from "./retry-delay.js";

/** What an exchange means. Its data remembers the text it was read from, see `exactJson`. */
export type Classification =
  /** `waitMs`: how long the service asked to wait before the next poll, if it did. */
  | { kind: "data"; data: Data; waitMs?: number }
  /** Conclusive: the service said no. */
  | { kind: "refused"; error: RefusedError }
  /** Inconclusive: `FAULTS[fault]` says what follows. */
  | { kind: "fault"; fault: FaultName; sent: boolean; error: ResearchError };

/** Any classification but a success. */
export type Unsuccessful = Exclude<Classification, { kind: "data" }>;

export interface Asked {
  dialect: Dialect;
  operation: Operation;
  /** The id in the path; undefined for create. */
  requestId?: string | undefined;
  /** `METHOD URL`, for messages. */
  target: string;
  /** Epoch ms, to read a `Retry-After` date against. */
  now: number;
}

/** Reads an answer by §7, by its dialect, and by what an intermediary may have put in its place. Pure. */
export function classifyResponse(answer: HttpAnswer | RequestFailure, asked: Asked): Classification {
  const { dialect, operation } = asked;
  const facts: ErrorFacts = {
    requestId: asked.requestId,
    retryAfter: readRetryAfter(headerOf(answer.headers, "retry-after"), asked.now),
  };
  if (answer.kind === "failure") return faulty(answer.fault, answer.sent, answer.message, asked, facts);
  const known: ErrorFacts = { ...facts, httpStatus: answer.status };
  const body = parseBody(answer, maxBytes(operation, dialect));
  if (body.kind === "oversized")
    return faulty("oversized", true, "the answer is too large or too deeply nested", asked, known);
  const value = body.kind === "json" ? body.value : undefined;
  const said = dialect.fault(operation, answer.status, value);
  if (answer.status >= 300) return classifyError(answer, said, asked, known);
  if (said) return refusal(said.kind ?? "refused", said, asked, known);
  const data = dialect.data(operation, value);
  if (typeof data === "string") return faulty("unreadable", true, data, asked, known);
  const about = data.request_id;
  if (asked.requestId !== undefined && about !== undefined && about !== asked.requestId) {
    return faulty("wrong-request", true, "the answer is about another request", asked, known);
  }
  const pollAfter = readPollAfter(headerOf(answer.headers, "openai-poll-after-ms"));
  const waitMs = Math.max((facts.retryAfter ?? 0) * 1_000, pollAfter);
  return { kind: "data", data, ...(waitMs > 0 && { waitMs }) };
}

/** Anything from 300 up. */
function classifyError(
  answer: HttpAnswer,
  said: ServiceError | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const { status, headers } = answer;
  const { operation } = asked;
  const fault = (name: FaultName, why: string, more: ErrorFacts = {}) =>
    faulty(name, true, why, asked, { ...facts, ...more }, said);
  if (status >= 500) return fault("unavailable", `the service is not available (HTTP ${status})`);
  if (status < 400) {
    const location = headerOf(headers, "location");
    const to = location ? ` to ${location}` : "";
    const name = status === 303 ? "see-other" : "redirected";
    return fault(name, `a redirect${to} was not followed (HTTP ${status})`);
  }
  if (status === 405 && (operation === "status" || operation === "output")) {
    const hint = `If the service wants another method, \`research config set ${operation}-method POST\` sets it.`;
    return fault("wrong-method", `the service does not take ${asked.target} (HTTP 405)`, { hint });
  }
  // A service may use 408 for a result that is not there yet; to all else these say too little.
  const isAboutResult = operation === "output" && said?.kind !== undefined;
  if ((AMBIGUOUS_STATUSES.has(status) && !isAboutResult) || (status === MISDIRECTED_STATUS && !said))
    return fault("ambiguous", `the service gave no result (HTTP ${status})`);
  // The interface document has no 402; at a provider the status alone says that there is no money.
  const isUnpaid = status === 402 && asked.dialect.name !== "research";
  const kind = said?.kind ?? (isUnpaid ? "no-credit" : KIND_OF_STATUS[status]) ?? (said && "refused");
  if (kind) return refusal(kind, said, asked, facts);
  return fault("stray", `HTTP ${status} without a word from the service itself`);
}

function refusal(
  kind: RefusalKind,
  said: ServiceError | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const isNoService = !said && kind === "not-found";
  const hint = isNoService
    ? "Is the base URL right? `research config list` shows where it comes from."
    : undefined;
  const message = said?.message || `HTTP ${facts.httpStatus} for ${asked.target}`;
  // What has no money has one name, whatever word a provider has for it.
  const code = (kind === "no-credit" ? undefined : said?.code) ?? CODE_OF_REFUSAL[kind];
  const error = new RefusedError(kind, said !== undefined, code, message, { ...facts, hint });
  return { kind: "refused", error };
}

function faulty(
  fault: FaultName,
  sent: boolean,
  why: string,
  asked: Asked,
  facts: ErrorFacts,
  said?: ServiceError,
): Classification {
  const message = `${asked.target}: ${why}`;
  if (asked.operation === "create" && sent && FAULTS[fault].create === "unknown") {
    return { kind: "fault", fault, sent, error: new OutcomeUnknownError(message, facts) };
  }
  const code = said?.code ?? (UNANSWERED.has(fault) ? "UNREACHABLE" : "BAD_RESPONSE");
  return { kind: "fault", fault, sent, error: new UnreachableError(code, message, facts) };
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

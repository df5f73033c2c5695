import * as v from "valibot";
import { memberText, withSource } from "../json/exact-json.js";
import type { Data } from "../protocol/data.js";
import type { Operation } from "../protocol/endpoints.js";
import {
  createdData,
  type Envelope,
  outputData,
  readEnvelope,
  statusData,
  stopData,
} from "../protocol/envelope.js";
import {
  type ErrorFacts,
  OutcomeUnknownError,
  type RefusalKind,
  RefusedError,
  type ResearchError,
  UnreachableError,
} from "./errors.js";
import { AMBIGUOUS_STATUSES, FAULTS, type FaultName, MISDIRECTED_STATUS } from "./failure-policy.js";
import { maxBytes, type ParsedBody, parseBody } from "./http/body.js";
import { type Answer, type Failure, headerOf } from "./http/transport.js";
import { readRetryAfter } from "./retry-delay.js";

/** What an exchange means. Its data remembers the text it was read from, see `exactJson`. */
export type Classification =
  | { kind: "data"; data: Data }
  /** Conclusive: the service said no. */
  | { kind: "refused"; error: RefusedError }
  /** Inconclusive: `FAULTS[fault]` says what follows. */
  | { kind: "fault"; fault: FaultName; sent: boolean; error: ResearchError };

/** Any classification but a success. */
export type Unsuccessful = Exclude<Classification, { kind: "data" }>;

export interface Asked {
  operation: Operation;
  /** The id in the path; undefined for create. */
  requestId?: string | undefined;
  /** `METHOD URL`, for messages. */
  target: string;
  /** Epoch ms, to read a `Retry-After` date against. */
  now: number;
}

const SHAPES = { create: createdData, status: statusData, stop: stopData, output: outputData };

/** Reads an answer by §7 and by what an intermediary may have put in its place. Pure. */
export function classifyResponse(answer: Answer | Failure, asked: Asked): Classification {
  const facts: ErrorFacts = {
    requestId: asked.requestId,
    retryAfter: readRetryAfter(headerOf(answer.headers, "retry-after"), asked.now),
  };
  if (answer.kind === "failure") return faulty(answer.fault, answer.sent, answer.message, asked, facts);
  const known: ErrorFacts = { ...facts, httpStatus: answer.status };
  const body = parseBody(answer, maxBytes(asked.operation));
  if (body.kind === "oversized")
    return faulty("oversized", true, "the answer is too large or too deeply nested", asked, known);
  const envelope = readEnvelope(body.kind === "json" ? body.value : undefined);
  if (answer.status >= 300) return classifyError(answer, envelope, asked, known);
  if (!envelope) return faulty("unreadable", true, "the answer is not one of this service's", asked, known);
  if (!envelope.ok) return refusal(kindOfCode(envelope.error.code) ?? "refused", envelope, asked, known);
  const data = v.safeParse(SHAPES[asked.operation], envelope.data);
  if (!data.success)
    return faulty(
      "unreadable",
      true,
      `the answer lacks what it must hold (${v.summarize(data.issues)})`,
      asked,
      known,
    );
  const about = data.output.request_id;
  if (asked.requestId !== undefined && about !== undefined && about !== asked.requestId) {
    return faulty("wrong-request", true, "the answer is about another request", asked, known);
  }
  return { kind: "data", data: withSource(data.output, textOfData(body)) };
}

/** The text of the envelope's `data`, which the validation has copied without it. */
function textOfData(body: ParsedBody): string {
  const root = body.kind === "json" ? Object(body.value) : {};
  return memberText(root, "data")?.text ?? "{}";
}

/** Anything from 300 up. */
function classifyError(
  answer: Answer,
  envelope: Envelope | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const { status, headers } = answer;
  if (status >= 500)
    return faulty(
      "unavailable",
      true,
      `the service is not available (HTTP ${status})`,
      asked,
      facts,
      envelope,
    );
  if (status < 400) {
    const location = headerOf(headers, "location");
    const to = location ? ` to ${location}` : "";
    return faulty(
      status === 303 ? "see-other" : "redirected",
      true,
      `a redirect${to} was not followed (HTTP ${status})`,
      asked,
      facts,
    );
  }
  if (status === 405 && (asked.operation === "status" || asked.operation === "output")) {
    const hint = `If the service wants another method, set it: research config set ${asked.operation}-method POST`;
    return faulty(
      "wrong-method",
      true,
      `the service does not take ${asked.target} (HTTP 405)`,
      asked,
      {
        ...facts,
        hint,
      },
      envelope,
    );
  }
  if (AMBIGUOUS_STATUSES.has(status) || (status === MISDIRECTED_STATUS && !envelope))
    return faulty("ambiguous", true, `the service gave no result (HTTP ${status})`, asked, facts, envelope);
  const byCode = envelope && !envelope.ok ? kindOfCode(envelope.error.code) : undefined;
  const kind = byCode ?? kindOfStatus(status) ?? (envelope && !envelope.ok ? "refused" : undefined);
  if (kind) return refusal(kind, envelope, asked, facts);
  return faulty("stray", true, `HTTP ${status} without a word from the service itself`, asked, facts);
}

function refusal(
  kind: RefusalKind,
  envelope: Envelope | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const fault = envelope && !envelope.ok ? envelope.error : undefined;
  const hint =
    fault || kind !== "not-found"
      ? undefined
      : "Is the base URL right? `research config list` shows where it comes from.";
  const said = fault?.message || `HTTP ${facts.httpStatus} for ${asked.target}`;
  const error = new RefusedError(kind, fault !== undefined, fault?.code ?? OUR_CODES[kind], said, {
    ...facts,
    hint,
  });
  return { kind: "refused", error };
}

function faulty(
  fault: FaultName,
  sent: boolean,
  why: string,
  asked: Asked,
  facts: ErrorFacts,
  envelope?: Envelope,
): Classification {
  const message = `${asked.target}: ${why}`;
  if (asked.operation === "create" && sent && FAULTS[fault].create === "unknown") {
    return { kind: "fault", fault, sent, error: new OutcomeUnknownError(message, facts) };
  }
  const code =
    envelope && !envelope.ok ? envelope.error.code : UNANSWERED.has(fault) ? "UNREACHABLE" : "BAD_RESPONSE";
  return { kind: "fault", fault, sent, error: new UnreachableError(code, message, facts) };
}

const UNANSWERED: ReadonlySet<FaultName> = new Set([
  "unreachable",
  "unconnectable",
  "lost",
  "timeout",
  "unavailable",
]);

const OUR_CODES: Record<RefusalKind, string> = {
  "invalid-input": "USAGE",
  unauthenticated: "NOT_AUTHENTICATED",
  "not-found": "NOT_FOUND",
  refused: "NOT_ALLOWED",
  "rate-limited": "RATE_LIMITED",
};

/** §7, the codes that are shown; any other code says no more than that it was refused. */
function kindOfCode(code: string): RefusalKind | undefined {
  switch (code) {
    case "VALIDATION_ERROR":
      return "invalid-input";
    case "INVALID_API_KEY":
      return "unauthenticated";
    case "RATE_LIMIT_EXCEEDED":
      return "rate-limited";
    case "REQUEST_NOT_FOUND":
      return "not-found";
    default:
      return code.startsWith("CONVERSATION_ALREADY_") ? "refused" : undefined;
  }
}

/** HTTP statuses that say enough by themselves, from the service or from a proxy. */
function kindOfStatus(status: number): RefusalKind | undefined {
  switch (status) {
    case 401:
    case 403:
      return "unauthenticated";
    case 404:
      return "not-found";
    case 429:
      return "rate-limited";
    case 413:
    case 414:
    case 431:
      return "invalid-input";
    default:
      return undefined;
  }
}

import type { Operation } from "../../core/protocol/conversation.js";
import type { RefusalKind, ServiceError } from "./dialect.js";

/** HTTP statuses that mean missing credit. Tavily sends 432 or 433 if the plan's credits or the key's limit are used up. */
export const UNPAID: ReadonlySet<number> = new Set([402, 432, 433]);
const MONEY_CODE =
  /insufficient_(?:quota|funds|balance)|credit|billing|payment_required|(?:spend|usage)_limit|budget_exceeded/i;
const RATE_CODE = /rate_?limit|slow_down|too_many|concurrency|resource_exhausted/i;
/** Matches a limit of 0, for which waiting does not help: `limit: 0`, `Limit 0, Used 0, Requested 1`. */
const NO_QUOTA = /\blimit(?: of| is|:| =)? ?0(?![.,]?\d| (?:\w+ )?(?:remaining|left))/i;
/** Matches a message about a request larger than the limit itself. OpenAI sends it about tokens per minute, sometimes with a wait. */
const TOO_LARGE =
  /\b(?:request|prompt|input|message)s? (?:(?:is|are|was|were) )?too (?:large|long|big)\b|\bmust be (?:reduced|shortened)\b/i;
const LIMIT_REQUESTED = /\blimit:? ([\d,]+)[,;] requested:? ([\d,]+)/i;
/** HTTP statuses for which the message decides whether credit is missing. */
const SAYS_MONEY: ReadonlySet<number> = new Set([400, 403, 429]);
/** Matches a limit per span of time, which ends by itself. */
const RATE_TEXT = /\bper[ -](?:second|minute|hour|day)\b/i;
const MONEY = "(?:credits?|balance|quota|funds)";
const MONEY_TEXT = new RegExp(
  `(?:no|enough|out of|insufficient|exceeded|exhausted|reached|low|add|purchase)\\b.{0,40}\\b${MONEY}\\b|` +
    `\\b${MONEY}\\b.{0,40}\\b(?:exceeded|exhausted|insufficient|low|empty|depleted|used up|run out|reached)\\b|` +
    "\\b(?:payment required|top up|billing (?:hard )?limit|spend(?:ing)? limit)\\b",
  "i",
);
const MONEY_401 = /credit|balance|quota/i;
/** Matches a wait: `try again in 6m0s`, `retry after 30 seconds`. */
const WAIT_TEXT =
  /\b(?:again|retry|wait)\D{0,20}?((?:\d+(?:\.\d+)?\s?(?:ms|[smh]|(?:second|minute|hour)s?)(?![a-z])\s?)+)/i;
const UNIT_S: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

/** Returns the wait that a message names, rounded up to seconds; undefined if it names no wait. */
function parseWaitInMessage(message: string): number | undefined {
  const [, wait] = WAIT_TEXT.exec(message) ?? [];
  if (wait === undefined) return undefined;
  const parts = wait.matchAll(/([\d.]+)\s?(ms|[smh])/gi);
  return Math.ceil(
    [...parts].reduce(
      (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_S[unit.toLowerCase()] ?? 0),
      0,
    ),
  );
}

/** A provider's error before it is classified. */
export interface ProviderError {
  code: string | undefined;
  /** Undefined if the answer is not an error of this provider. */
  message: string | undefined;
  /** The wait from a header or the body, in seconds. */
  retryAfter?: number | undefined;
  /** Whether the dialect knows that this message means missing credit. */
  isUnpaid?: boolean;
}

/** Classifies a provider's error, and hides a key masked with asterisks. Undefined if the answer is not an error of this provider. */
export function classifyProviderError(
  operation: Operation,
  httpStatus: number,
  complaint: ProviderError,
): ServiceError | undefined {
  if (httpStatus < 400 || complaint.message === undefined) return undefined;
  const { code } = complaint;
  const message = complaint.message.replace(/\S*\*{2,}\S*/g, "[key]");
  const retryAfter = complaint.retryAfter ?? (httpStatus === 429 ? parseWaitInMessage(message) : undefined);
  const kind = classifyRefusalKind(operation, httpStatus, { ...complaint, message, retryAfter });
  return { code, message, retryAfter, kind };
}

/** Returns whether a request alone exceeds the limit, so that waiting does not help. */
function isRequestTooLarge(message: string): boolean {
  const [, limit, requested] = (LIMIT_REQUESTED.exec(message) ?? []).map((count) =>
    Number(count.replace(/,/g, "")),
  );
  return TOO_LARGE.test(message) || Number(requested) > Number(limit);
}

/** Returns what an error means. Checks in the order of contract §9: missing credit by status or code, limits that stay, a stated wait, words. */
function classifyRefusalKind(
  operation: Operation,
  httpStatus: number,
  { code = "", message = "", retryAfter, isUnpaid = false }: ProviderError,
): RefusalKind | undefined {
  const isRate = RATE_CODE.test(code);
  if (UNPAID.has(httpStatus) || (MONEY_CODE.test(code) && !isRate)) return "no-credit";
  if (httpStatus === 401) return MONEY_401.test(message) ? "no-credit" : undefined;
  if (httpStatus === 429) {
    if (NO_QUOTA.test(message)) return "no-credit";
    if (isRequestTooLarge(message)) return operation === "create" ? "invalid-input" : undefined;
    if (retryAfter !== undefined || RATE_TEXT.test(message)) return undefined;
  }
  if (SAYS_MONEY.has(httpStatus) && (isUnpaid || (!isRate && MONEY_TEXT.test(message)))) return "no-credit";
  if (operation === "create" && [400, 404, 422].includes(httpStatus)) return "invalid-input";
  return undefined;
}

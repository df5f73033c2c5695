import {
  attachSource,
  findMemberText,
  isObject,
  JsonText,
  parseExact,
  readJsonPath,
  stringifyExact,
} from "../../core/json/exact-json.js";
import type { Citation } from "../../core/protocol/citations.js";
import {
  type Data,
  isFinal,
  isRequestId,
  type KnownStatus,
  type Operation,
} from "../../core/protocol/conversation.js";
import type { RefusalKind, ServiceError } from "./dialect.js";

/** An object of unknown fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** `value` if it is an object and no array, else an empty one. */
export function readFields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** The objects in an array; empty for anything else. */
export function readItems(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(readFields) : [];
}

/** `value` if it is a text that is not blank. */
export function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** A time in ISO 8601, from one or from seconds since 1970. */
function parseTime(value: unknown): string | undefined {
  if (typeof value !== "number") return readText(value);
  const date = new Date(value * 1_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Returns whether a web address is named. */
function hasUrl(page: Fields): page is Fields & { url: string } {
  return typeof page.url === "string" && /^https?:\/\//i.test(page.url);
}

/** What a text of `length` UTF-16 units that begins at `offset` of the output cites; a range outside of it is left out. */
export function readRanges(annotations: readonly Fields[], offset: number, length: number): Citation[] {
  return annotations.flatMap((annotation) => {
    const { start_index: start, end_index: end } = annotation;
    const isRange = Number.isInteger(start) && Number.isInteger(end) && Number(start) >= 0;
    if (!hasUrl(annotation) || !isRange || Number(end) <= Number(start) || Number(end) > length) return [];
    return [{ start: offset + Number(start), end: offset + Number(end), url: annotation.url }];
  });
}

/** What each field of a structured result cites: `found` are objects of `field` and `citations`. */
export function readFieldCitations(listed: unknown): Citation[] | undefined {
  const cited = readItems(listed).flatMap(({ field, citations }) =>
    typeof field === "string"
      ? readItems(citations)
          .filter(hasUrl)
          .map(({ url }) => ({ field, url }))
      : [],
  );
  return cited.length > 0 ? cited : undefined;
}

/** Those of `found` that have a web address, each address once. */
export function readSources(listed: readonly Fields[]) {
  const sources = new Map<string, { url: string; title: string | null }>();
  for (const { url, title } of listed.filter(hasUrl))
    if (!sources.has(url)) sources.set(url, { url, title: readText(title) ?? null });
  return sources.size > 0 ? [...sources.values()] : undefined;
}

/** Returns every page in its order, since a text has their numbers; the url of one without a web address is null. */
export function readNumberedSources(pages: readonly Fields[]) {
  return pages.map((page) => ({ url: hasUrl(page) ? page.url : null, title: readText(page.title) ?? null }));
}

/** A member of an object in its own digits, itself an object that remembers its text. */
export function pickExactPart(object: Fields, name: string): Fields {
  const member = findMemberText(object, name);
  return readFields(member && parseExact(member.text));
}

/** The providers' words for states. */
export const STATES: ReadonlyMap<string, KnownStatus> = new Map([
  ["queued", "PENDING"],
  ["pending", "PENDING"],
  ["in_progress", "PROCESSING"],
  ["running", "PROCESSING"],
  // They wait for their caller.
  ["requires_action", "PROCESSING"],
  ["requires_continuation", "PROCESSING"],
  ["action_required", "PROCESSING"],
  ["cancelling", "PROCESSING"],
  ["completed", "COMPLETED"],
  ["failed", "FAILED"],
  // Final and paid, with the text that there is.
  ["incomplete", "FAILED"],
  ["budget_exceeded", "FAILED"],
  ["cancelled", "STOPPED"],
]);

/** A provider's word in ours; an unknown one as it is. */
const mapState = (word: string): string => STATES.get(word) ?? word;

/** Searches (steps of the type `search`) or pages of the newest step. Undefined if it has ended or says neither. */
export function readProgress(
  word: unknown,
  steps: readonly Fields[],
  search: string,
  pagesIn: (step: Fields) => unknown,
): { step: "search" | "read"; done: number } | undefined {
  if (isFinal(mapState(String(word)))) return undefined;
  let progress: ReturnType<typeof readProgress>;
  const done = { search: 0, read: 0 };
  for (const entry of steps) {
    const pages = pagesIn(entry);
    const step = entry.type === search ? "search" : Array.isArray(pages) ? "read" : undefined;
    if (!step) continue;
    done[step] += step === "read" ? (pages as unknown[]).length : 1;
    progress = { step, done: done[step] };
  }
  return progress;
}

/** What the interface has words for in an answer, under the answer's own names. `created`: ISO 8601, or seconds since 1970. */
type OwnWords = Record<"id" | "status" | "created", unknown> & {
  /** What the model says in place of a result. */
  refusal?: string | undefined;
  /** Whether an answer that shows the end holds the result; default: true. */
  holdsResult?: boolean;
};

/**
 * Returns the data of an answer: what it says and `more` in the interface's words, then the answer's own fields of other
 * names, in the answer's own digits. A word that is undefined is left out, and so is a field of its name. A completed
 * answer without a result is FAILED (contract §9, "No result"). A string says what the answer lacks.
 */
export function answerData(
  operation: Operation,
  answer: Fields,
  { id, created, refusal, holdsResult = true, ...ownWords }: OwnWords,
  more: Record<string, unknown>,
): Data | string {
  const word = readText(ownWords.status);
  if (operation === "create" && !isRequestId(id)) return "the answer has no id";
  if ((operation === "status" || operation === "stop") && word === undefined)
    return "the answer has no status";
  const status = word && mapState(word);
  const hasNoResult = status === "COMPLETED" && holdsResult && isBlank(more.output);
  const words: Record<string, unknown> = {
    request_id: isRequestId(id) ? id : undefined,
    status,
    provider_status: word,
    created_at: parseTime(created),
    ...more,
    ...(hasNoResult && createNoResultError(refusal)),
  };
  const given = Object.entries(words).filter(([, value]) => value !== undefined);
  const others = Object.keys(answer).filter((name) => !Object.hasOwn(words, name));
  const parsed = given.map(([name, value]) => [name, parseValue(value)]);
  const data = Object.fromEntries([...parsed, ...others.map((name) => [name, answer[name]])]);
  const exact = [...given, ...others.map((name) => [name, findMemberText(answer, name)])];
  return attachSource(data, stringifyExact(Object.fromEntries(exact)));
}

/** Returns the words that a completed answer without a result has in place of its own. */
function createNoResultError(refusal: string | undefined) {
  const why =
    refusal === undefined ? { stop_reason: "no_text" } : { stop_reason: "refusal", message: refusal };
  return { status: "FAILED", output: undefined, ...why };
}

function parseValue(value: unknown): unknown {
  return value instanceof JsonText ? JSON.parse(value.text) : value;
}

/** Returns whether a result is none: it is missing, null, or a text of white space. */
function isBlank(result: unknown): boolean {
  const value = parseValue(result) ?? "";
  return typeof value === "string" && value.trim() === "";
}

/** A text as a result: the JSON that it is made of if `isStructured` and it is JSON, else as it is. */
export function readResult(value: string | undefined, isStructured: boolean): string | JsonText | undefined {
  return value !== undefined && isStructured && readJsonPath(value) !== undefined
    ? new JsonText(value)
    : value;
}

/** The first well-formed id that stands under one of `names`, in a text that need not be whole. */
export function salvageId(torn: string, names: string, shape: RegExp): string | undefined {
  for (const [, id] of torn.matchAll(new RegExp(`"(?:${names})"\\s*:\\s*"([^"\\\\]{1,512})"`, "g")))
    if (isRequestId(id) && shape.test(id)) return id;
  return undefined;
}

/** 432 and 433 are Tavily's: the plan's credits, and the key's own limit, are used up. */
export const UNPAID: ReadonlySet<number> = new Set([402, 432, 433]);
const MONEY_CODE =
  /insufficient_(?:quota|funds|balance)|credit|billing|payment_required|(?:spend|usage)_limit|budget_exceeded/i;
const RATE_CODE = /rate_?limit|slow_down|too_many|concurrency|resource_exhausted/i;
/** A limit of nothing never has room: `limit: 0`, `Limit 0, Used 0, Requested 1`. */
const NO_QUOTA = /\blimit(?: of| is|:| =)? ?0(?![.,]?\d| (?:\w+ )?(?:remaining|left))/i;
/** A request that is larger than the limit itself. OpenAI says so of tokens per minute, beside which a wait may stand. */
const TOO_LARGE =
  /\b(?:request|prompt|input|message)s? (?:(?:is|are|was|were) )?too (?:large|long|big)\b|\bmust be (?:reduced|shortened)\b/i;
const LIMIT_REQUESTED = /\blimit:? ([\d,]+)[,;] requested:? ([\d,]+)/i;
/** What may be about money by its words alone. */
const SAYS_MONEY: ReadonlySet<number> = new Set([400, 403, 429]);
/** A limit on a span of time is over by itself. */
const RATE_TEXT = /\bper[ -](?:second|minute|hour|day)\b/i;
const MONEY = "(?:credits?|balance|quota|funds)";
const MONEY_TEXT = new RegExp(
  `(?:no|enough|out of|insufficient|exceeded|exhausted|reached|low|add|purchase)\\b.{0,40}\\b${MONEY}\\b|` +
    `\\b${MONEY}\\b.{0,40}\\b(?:exceeded|exhausted|insufficient|low|empty|depleted|used up|run out|reached)\\b|` +
    "\\b(?:payment required|top up|billing (?:hard )?limit|spend(?:ing)? limit)\\b",
  "i",
);
const MONEY_401 = /credit|balance|quota/i;
/** `try again in 6m0s`, `retry after 30 seconds`. */
const WAIT_TEXT =
  /\b(?:again|retry|wait)\D{0,20}?((?:\d+(?:\.\d+)?\s?(?:ms|[smh]|(?:second|minute|hour)s?)(?![a-z])\s?)+)/i;
const UNIT_S: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

/** The wait that a sentence asks for, in whole seconds; undefined if it asks for none. */
function waitIn(message: string): number | undefined {
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

/** What an error says, before it is judged. */
export interface Complaint {
  code: string | undefined;
  /** Undefined if the answer is not an error of this provider. */
  message: string | undefined;
  /** Seconds to wait, by a header or by the body. */
  retryAfter?: number | undefined;
  /** Whether the dialect knows these words to mean that no money is left. */
  isUnpaid?: boolean;
}

/** What a provider's error means: no money, a limit, an invalid key, bad input. A key behind asterisks is left out. */
export function classifyProviderError(
  operation: Operation,
  httpStatus: number,
  complaint: Complaint,
): ServiceError | undefined {
  if (httpStatus < 400 || complaint.message === undefined) return undefined;
  const { code } = complaint;
  const message = complaint.message.replace(/\S*\*{2,}\S*/g, "[key]");
  const retryAfter = complaint.retryAfter ?? (httpStatus === 429 ? waitIn(message) : undefined);
  const kind = classifyKind(operation, httpStatus, { ...complaint, message, retryAfter });
  return { code, message, retryAfter, kind };
}

/** Returns whether no wait makes room for a request: it asks for more at once than the limit has. */
function isTooLarge(message: string): boolean {
  const [, limit, requested] = (LIMIT_REQUESTED.exec(message) ?? []).map((count) =>
    Number(count.replace(/,/g, "")),
  );
  return TOO_LARGE.test(message) || Number(requested) > Number(limit);
}

/** In the order of contract §9: a status or code for money, what no wait ends, a time to wait, what is known, a rate's code, words. */
function classifyKind(
  operation: Operation,
  httpStatus: number,
  { code = "", message = "", retryAfter, isUnpaid = false }: Complaint,
): RefusalKind | undefined {
  const isRate = RATE_CODE.test(code);
  if (UNPAID.has(httpStatus) || (MONEY_CODE.test(code) && !isRate)) return "no-credit";
  if (httpStatus === 401) return MONEY_401.test(message) ? "no-credit" : undefined;
  if (httpStatus === 429) {
    if (NO_QUOTA.test(message)) return "no-credit";
    if (isTooLarge(message)) return operation === "create" ? "invalid-input" : undefined;
    if (retryAfter !== undefined || RATE_TEXT.test(message)) return undefined;
  }
  if (SAYS_MONEY.has(httpStatus) && (isUnpaid || (!isRate && MONEY_TEXT.test(message)))) return "no-credit";
  if (operation === "create" && [400, 404, 422].includes(httpStatus)) return "invalid-input";
  return undefined;
}

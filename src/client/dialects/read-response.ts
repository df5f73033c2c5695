import {
  attachJsonText,
  findMemberText,
  isObject,
  JsonText,
  parseExact,
  stringifyExact,
  tryParseExact,
} from "../../core/json/exact-json.js";
import type { Citation } from "../../core/protocol/citations.js";
import {
  type Data,
  isFinal,
  isRequestId,
  type KnownStatus,
  type Operation,
} from "../../core/protocol/conversation.js";

/** An object of unknown fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns `value` if it is an object and not an array; else an empty object. */
export function readObject(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Returns the elements of an array as objects; an empty list if `value` is not an array. */
export function readObjects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(readObject) : [];
}

/** Returns `value` if it is a text that is not blank; else undefined. */
export function readNonBlank(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Converts epoch seconds to ISO 8601; returns a text unchanged, and undefined for anything else. */
function parseProviderTime(value: unknown): string | undefined {
  if (typeof value !== "number") return readNonBlank(value);
  const date = new Date(value * 1_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Returns whether a page has an http or https address. */
function hasWebUrl(page: Fields): page is Fields & { url: string } {
  return typeof page.url === "string" && /^https?:\/\//i.test(page.url);
}

/** Reads the citations of a text that begins at `offset` of the output, `length` UTF-16 units long; skips ranges outside the text. */
export function readRangeCitations(
  annotations: readonly Fields[],
  offset: number,
  length: number,
): Citation[] {
  return annotations.flatMap((annotation) => {
    const { start_index: start, end_index: end } = annotation;
    const isRange = Number.isInteger(start) && Number.isInteger(end) && Number(start) >= 0;
    if (!hasWebUrl(annotation) || !isRange || Number(end) <= Number(start) || Number(end) > length) return [];
    return [{ start: offset + Number(start), end: offset + Number(end), url: annotation.url }];
  });
}

/** Reads the citations of a structured result from items with `field` and `citations`; undefined if there are none. */
export function readFieldCitations(listed: unknown): Citation[] | undefined {
  const cited = readObjects(listed).flatMap(({ field, citations }) =>
    typeof field === "string"
      ? readObjects(citations)
          .filter(hasWebUrl)
          .map(({ url }) => ({ field, url }))
      : [],
  );
  return cited.length > 0 ? cited : undefined;
}

/** Returns the pages that have a web address, each address once; undefined if no page has one. */
export function readUniqueSources(listed: readonly Fields[]) {
  const sources = new Map<string, { url: string; title: string | null }>();
  for (const { url, title } of listed.filter(hasWebUrl))
    if (!sources.has(url)) sources.set(url, { url, title: readNonBlank(title) ?? null });
  return sources.size > 0 ? [...sources.values()] : undefined;
}

/** Returns all pages in the given order, because the text cites them by number; `url` is null for a page without a web address. */
export function readNumberedSources(pages: readonly Fields[]) {
  return pages.map((page) => ({
    url: hasWebUrl(page) ? page.url : null,
    title: readNonBlank(page.title) ?? null,
  }));
}

/** Returns the member `name` as an object with its source text, so that numbers stay exact; an empty object if it is anything else. */
export function pickExactMember(object: Fields, name: string): Fields {
  const member = findMemberText(object, name);
  return readObject(member && parseExact(member.text));
}

/** The interface's state for each word that a provider uses. */
export const STATES: ReadonlyMap<string, KnownStatus> = new Map([
  ["queued", "PENDING"],
  ["pending", "PENDING"],
  ["in_progress", "PROCESSING"],
  ["running", "PROCESSING"],
  // The provider waits for its caller to act.
  ["requires_action", "PROCESSING"],
  ["requires_continuation", "PROCESSING"],
  ["action_required", "PROCESSING"],
  ["cancelling", "PROCESSING"],
  ["completed", "COMPLETED"],
  ["failed", "FAILED"],
  // The request has ended and is paid for, but its text is incomplete.
  ["incomplete", "FAILED"],
  ["budget_exceeded", "FAILED"],
  ["cancelled", "STOPPED"],
]);

/** Maps a provider's word to our state; returns an unknown word unchanged. */
const mapProviderState = (word: string): string => STATES.get(word) ?? word;

/** Counts searches (steps of the type `search`) or pages, whichever the latest step is about. Undefined for a final state or without such steps. */
export function readProgress(
  word: unknown,
  steps: readonly Fields[],
  search: string,
  pagesIn: (step: Fields) => unknown,
): { step: "search" | "read"; done: number } | undefined {
  if (isFinal(mapProviderState(String(word)))) return undefined;
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

/** The fields of an answer that have a name of their own in the interface. `created`: ISO 8601, or epoch seconds. */
type InterfaceFields = Record<"id" | "status" | "created", unknown> & {
  /** The text with which the model refuses to answer. */
  refusal?: string | undefined;
  /** Whether an answer in a final state contains the result; default: true. */
  holdsResult?: boolean;
};

/**
 * Builds the data of an answer: the fields that the interface names and `more`, then the answer's other fields with their
 * exact text. Omits an undefined field, and the answer's field of that name. A completed answer without a result becomes
 * FAILED (contract §9, "No result"). Returns a string that says what is missing if the answer is invalid.
 */
export function buildAnswerData(
  operation: Operation,
  answer: Fields,
  { id, created, refusal, holdsResult = true, ...ownWords }: InterfaceFields,
  more: Record<string, unknown>,
): Data | string {
  const word = readNonBlank(ownWords.status);
  if (operation === "create" && !isRequestId(id)) return "the answer has no id";
  if ((operation === "status" || operation === "stop") && word === undefined)
    return "the answer has no status";
  const status = word && mapProviderState(word);
  const hasNoResult = status === "COMPLETED" && holdsResult && isBlankResult(more.output);
  const words: Record<string, unknown> = {
    request_id: isRequestId(id) ? id : undefined,
    status,
    provider_status: word,
    created_at: parseProviderTime(created),
    ...more,
    ...(hasNoResult && createNoResultError(refusal)),
  };
  const namedEntries = Object.entries(words).filter(([, value]) => value !== undefined);
  const otherNames = Object.keys(answer).filter((name) => !Object.hasOwn(words, name));
  const parsedEntries = namedEntries.map(([name, value]) => [name, unwrapJsonText(value)]);
  const data = Object.fromEntries([...parsedEntries, ...otherNames.map((name) => [name, answer[name]])]);
  const exactEntries = [...namedEntries, ...otherNames.map((name) => [name, findMemberText(answer, name)])];
  return attachJsonText(data, stringifyExact(Object.fromEntries(exactEntries)));
}

/** Returns the fields that replace those of a completed answer without a result. */
function createNoResultError(refusal: string | undefined) {
  const why =
    refusal === undefined ? { stop_reason: "no_text" } : { stop_reason: "refusal", message: refusal };
  return { status: "FAILED", output: undefined, ...why };
}

function unwrapJsonText(value: unknown): unknown {
  return value instanceof JsonText ? JSON.parse(value.text) : value;
}

/** Returns whether a result is missing, null, or only white space. */
function isBlankResult(result: unknown): boolean {
  const value = unwrapJsonText(result) ?? "";
  return typeof value === "string" && value.trim() === "";
}

/** Returns the result that a text contains: a JsonText if `isStructured` and the text is JSON; else the text unchanged. */
export function parseResultText(
  value: string | undefined,
  isStructured: boolean,
): string | JsonText | undefined {
  return value !== undefined && isStructured && tryParseExact(value) !== undefined
    ? new JsonText(value)
    : value;
}

/** Finds the first well-formed id in a text that may be cut off. `names`: the field's possible names, as in `a|b`. Undefined if there is none. */
export function salvageId(torn: string, names: string, shape: RegExp): string | undefined {
  for (const [, id] of torn.matchAll(new RegExp(`"(?:${names})"\\s*:\\s*"([^"\\\\]{1,512})"`, "g")))
    if (isRequestId(id) && shape.test(id)) return id;
  return undefined;
}

import type { Citation } from "../../core/protocol/citations.js";
import type { Data, Operation } from "../../core/protocol/conversation.js";
import { buildRequestAt, PROVIDER } from "./asking.js";
import type { Dialect, ServiceError } from "./dialect.js";
import {
  answerData,
  classifyProviderError,
  type Fields,
  readFields,
  readItems,
  readNumberedSources,
  readProgress,
  readRanges,
  readResult,
  readSources,
  readText,
  salvageId,
} from "./reading.js";

/** Where responses are, at OpenAI and at Perplexity. */
export const PATH = "/v1/responses";

/** The Responses API in background mode, all but its create. `shape`: of its ids. */
export function createResponses(name: string, shape: RegExp): Omit<Dialect, "create"> {
  return {
    name,
    keyHeader: ["authorization", "Bearer "],
    ...PROVIDER,
    request: (operation, requestId) => buildRequestAt(PATH, operation, requestId),
    probeId: "resp_0",
    fault: readFault,
    data: readData,
    salvage: (torn) => salvageId(torn, "id|response_id", shape),
  };
}

/** An error in the form of the Responses API. */
export function readFault(
  operation: Operation,
  httpStatus: number,
  answer: unknown,
  retryAfter?: number,
): ServiceError | undefined {
  const error = readFields(readFields(answer).error);
  const [code, type] = [readText(error.code), readText(error.type)];
  // OpenAI says `insufficient_quota` in the type, with another code beside it.
  const word = type === "insufficient_quota" ? type : (code ?? type);
  const message = readText(error.message) ?? word;
  return classifyProviderError(operation, httpStatus, { code: word, message, retryAfter });
}

function readData(operation: Operation, value: unknown): Data | string {
  const answer = readFields(value);
  const { status, created_at: created } = answer;
  const id = answer.id ?? answer.response_id;
  if (operation === "create" && /^(?:req|msg)_/.test(String(id))) return "the answer has no id";
  const messages = readItems(answer.output).filter(({ type }) => type === "message");
  const searches = readItems(answer.output).filter(({ type }) => type === "search_results");
  const { output, refusal, ranges, annotations } = joinTexts(messages);
  const result = readResult(output, isStructured(answer));
  const results = searches.flatMap((search) => readItems(search.results));
  const numbered = typeof result === "string" ? readNumbers(result, results) : [];
  const citations = typeof result === "string" ? [...ranges, ...numbered] : [];
  const more = {
    output: result,
    cost_dollars: costIn(answer),
    // The numbers in the text are those of the search results, the same address twice included.
    sources: numbered.length > 0 ? readNumberedSources(results) : readSources([...annotations, ...results]),
    citations: citations.length > 0 ? citations : undefined,
    // OpenAI shows no output before the end.
    progress: readProgress(status, readItems(answer.output), "search_results", (item) =>
      item.type === "fetch_url_results" ? item.contents : undefined,
    ),
    stop_reason: readText(readFields(answer.incomplete_details).reason),
  };
  return answerData(operation, answer, { id, status, created, refusal }, more);
}

/** Returns the texts of messages as one, what the model refuses, what each part cites in the text, and all that is annotated. */
function joinTexts(messages: readonly Fields[]) {
  let output = "";
  const ranges: Citation[] = [];
  const annotations: Fields[] = [];
  for (const message of messages) {
    const parts = readItems(message.content);
    const isEmpty = !parts.some((part) => part.type === "output_text" && part.text);
    if (output !== "" && !isEmpty) output += "\n\n";
    for (const part of parts) {
      annotations.push(...readItems(part.annotations));
      if (part.type !== "output_text" || typeof part.text !== "string") continue;
      ranges.push(...readRanges(readItems(part.annotations), output.length, part.text.length));
      output += part.text;
    }
  }
  const refusals = messages.flatMap(({ content }) =>
    readItems(content).flatMap((part) => readText(part.refusal) ?? []),
  );
  return { output: readText(output), refusal: readText(refusals.join("\n\n")), ranges, annotations };
}

/** What the numbers of a text, as in `[2]` or `[web:2]`, cite: each is the place of a search result, from 1. */
function readNumbers(output: string, results: readonly Fields[]): Citation[] {
  return [...output.matchAll(/\[(?:web:)?(\d{1,3})\](?!\()/g)].flatMap((match) => {
    const { url } = results[Number(match[1]) - 1] ?? {};
    const end = match.index + match[0].length;
    return typeof url === "string" ? [{ start: match.index, end, url }] : [];
  });
}

/** Returns whether the answer repeats that a schema was asked for, as OpenAI's does and Perplexity's does not. */
function isStructured(answer: Fields): boolean {
  return readFields(readFields(answer.text).format).type === "json_schema";
}

function costIn(answer: Fields): number | undefined {
  const { total_cost: cost, currency = "USD" } = readFields(readFields(answer.usage).cost);
  return typeof cost === "number" && currency === "USD" ? cost : undefined;
}

import type { Citation } from "../../core/protocol/citations.js";
import type { Data, Operation } from "../../core/protocol/conversation.js";
import { buildRequestAt, PROVIDER } from "./build-request.js";
import type { Dialect, ServiceError } from "./dialect.js";
import {
  buildAnswerData,
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
} from "./read-response.js";

/** The path of responses at OpenAI and Perplexity. */
export const PATH = "/v1/responses";

/** Creates the dialect of the Responses API in background mode, without `create`. `shape`: the form of its ids. */
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

/** Reads an error in the format of the Responses API; undefined if the answer is not such an error. */
export function readFault(
  operation: Operation,
  httpStatus: number,
  answer: unknown,
  retryAfter?: number,
): ServiceError | undefined {
  const error = readFields(readFields(answer).error);
  const [code, type] = [readText(error.code), readText(error.type)];
  // OpenAI sends `insufficient_quota` as the type of an error, together with another code.
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
    cost_dollars: readCost(answer),
    // The numbers in the text count every search result, even if an address appears twice.
    sources: numbered.length > 0 ? readNumberedSources(results) : readSources([...annotations, ...results]),
    citations: citations.length > 0 ? citations : undefined,
    // OpenAI sends no output, and so no progress, before the request has ended.
    progress: readProgress(status, readItems(answer.output), "search_results", (item) =>
      item.type === "fetch_url_results" ? item.contents : undefined,
    ),
    stop_reason: readText(readFields(answer.incomplete_details).reason),
  };
  return buildAnswerData(operation, answer, { id, status, created, refusal }, more);
}

/** Joins the texts of messages; also returns the model's refusal, the citations of each part, and all annotations. */
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

/** Reads citations by number in a text, such as `[2]` or `[web:2]`: the number is the position of a search result, from 1. */
function readNumbers(output: string, results: readonly Fields[]): Citation[] {
  return [...output.matchAll(/\[(?:web:)?(\d{1,3})\](?!\()/g)].flatMap((match) => {
    const { url } = results[Number(match[1]) - 1] ?? {};
    const end = match.index + match[0].length;
    return typeof url === "string" ? [{ start: match.index, end, url }] : [];
  });
}

/** Returns whether the answer contains the schema of its request. OpenAI's answers do, Perplexity's do not. */
function isStructured(answer: Fields): boolean {
  return readFields(readFields(answer.text).format).type === "json_schema";
}

function readCost(answer: Fields): number | undefined {
  const { total_cost: cost, currency = "USD" } = readFields(readFields(answer.usage).cost);
  return typeof cost === "number" && currency === "USD" ? cost : undefined;
}

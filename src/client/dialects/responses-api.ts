import type { Citation } from "../../core/protocol/citations.js";
import type { Data, Operation } from "../../core/protocol/conversation.js";
import { buildStatusOrStopRequest, PROVIDER } from "./build-request.js";
import { classifyProviderError } from "./classify-provider-error.js";
import type { Dialect, ServiceError } from "./dialect.js";
import {
  buildAnswerData,
  type Fields,
  parseResultText,
  readNonBlank,
  readNumberedSources,
  readObject,
  readObjects,
  readProgress,
  readRangeCitations,
  readUniqueSources,
  salvageId,
} from "./read-response.js";

/** The path of responses at OpenAI and Perplexity. */
export const PATH = "/v1/responses";

/** Creates the dialect of the Responses API in background mode, without `create`. `shape`: the form of its ids. */
export function createResponsesDialect(name: string, shape: RegExp): Omit<Dialect, "create"> {
  return {
    name,
    keyHeader: ["authorization", "Bearer "],
    ...PROVIDER,
    request: (operation, requestId) => buildStatusOrStopRequest(PATH, operation, requestId),
    probeId: "resp_0",
    fault: readResponsesError,
    data: readResponsesData,
    salvage: (torn) => salvageId(torn, "id|response_id", shape),
  };
}

/** Reads an error in the format of the Responses API; undefined if the answer is not such an error. */
export function readResponsesError(
  operation: Operation,
  httpStatus: number,
  answer: unknown,
  retryAfter?: number,
): ServiceError | undefined {
  const error = readObject(readObject(answer).error);
  const [code, type] = [readNonBlank(error.code), readNonBlank(error.type)];
  // OpenAI sends `insufficient_quota` as the type of an error, together with another code.
  const word = type === "insufficient_quota" ? type : (code ?? type);
  const message = readNonBlank(error.message) ?? word;
  return classifyProviderError(operation, httpStatus, { code: word, message, retryAfter });
}

function readResponsesData(operation: Operation, value: unknown): Data | string {
  const answer = readObject(value);
  const { status, created_at: created } = answer;
  const id = answer.id ?? answer.response_id;
  if (operation === "create" && /^(?:req|msg)_/.test(String(id))) return "the answer has no id";
  const messages = readObjects(answer.output).filter(({ type }) => type === "message");
  const searches = readObjects(answer.output).filter(({ type }) => type === "search_results");
  const { output, refusal, ranges, annotations } = joinMessageTexts(messages);
  const result = parseResultText(output, hasOutputSchema(answer));
  const results = searches.flatMap((search) => readObjects(search.results));
  const numbered = typeof result === "string" ? readNumberedCitations(result, results) : [];
  const citations = typeof result === "string" ? [...ranges, ...numbered] : [];
  const more = {
    output: result,
    cost_dollars: readCostDollars(answer),
    // The numbers in the text count every search result, even if an address appears twice.
    sources:
      numbered.length > 0 ? readNumberedSources(results) : readUniqueSources([...annotations, ...results]),
    citations: citations.length > 0 ? citations : undefined,
    // OpenAI sends no output, and so no progress, before the request has ended.
    progress: readProgress(status, readObjects(answer.output), "search_results", (item) =>
      item.type === "fetch_url_results" ? item.contents : undefined,
    ),
    stop_reason: readNonBlank(readObject(answer.incomplete_details).reason),
  };
  return buildAnswerData(operation, answer, { id, status, created, refusal }, more);
}

/** Joins the texts of messages; also returns the model's refusal, the citations of each part, and all annotations. */
function joinMessageTexts(messages: readonly Fields[]) {
  let output = "";
  const ranges: Citation[] = [];
  const annotations: Fields[] = [];
  for (const message of messages) {
    const parts = readObjects(message.content);
    const isEmpty = !parts.some((part) => part.type === "output_text" && part.text);
    if (output !== "" && !isEmpty) output += "\n\n";
    for (const part of parts) {
      annotations.push(...readObjects(part.annotations));
      if (part.type !== "output_text" || typeof part.text !== "string") continue;
      ranges.push(...readRangeCitations(readObjects(part.annotations), output.length, part.text.length));
      output += part.text;
    }
  }
  const refusals = messages.flatMap(({ content }) =>
    readObjects(content).flatMap((part) => readNonBlank(part.refusal) ?? []),
  );
  return { output: readNonBlank(output), refusal: readNonBlank(refusals.join("\n\n")), ranges, annotations };
}

/** Reads citations by number in a text, such as `[2]` or `[web:2]`: the number is the position of a search result, from 1. */
function readNumberedCitations(output: string, results: readonly Fields[]): Citation[] {
  return [...output.matchAll(/\[(?:web:)?(\d{1,3})\](?!\()/g)].flatMap((match) => {
    const { url } = results[Number(match[1]) - 1] ?? {};
    const end = match.index + match[0].length;
    return typeof url === "string" ? [{ start: match.index, end, url }] : [];
  });
}

/** Returns whether the answer contains the schema of its request. OpenAI's answers do, Perplexity's do not. */
function hasOutputSchema(answer: Fields): boolean {
  return readObject(readObject(answer.text).format).type === "json_schema";
}

function readCostDollars(answer: Fields): number | undefined {
  const { total_cost: cost, currency = "USD" } = readObject(readObject(answer.usage).cost);
  return typeof cost === "number" && currency === "USD" ? cost : undefined;
}

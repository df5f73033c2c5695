import type { Citation } from "../../core/protocol/citations.js";
import type { Data, Operation } from "../../core/protocol/conversation.js";
import { PROVIDER, requestAt } from "./asking.js";
import type { Dialect, ServiceError } from "./dialect.js";
import {
  answerData,
  type Fields,
  fields,
  items,
  progressIn,
  providerError,
  rangesIn,
  readNumberedSources,
  resultIn,
  salvageId,
  sourcesIn,
  text,
} from "./reading.js";

/** Where responses are, at OpenAI and at Perplexity. */
export const PATH = "/v1/responses";

/** The Responses API in background mode, all but its create. `shape`: of its ids. */
export function responses(name: string, shape: RegExp): Omit<Dialect, "create"> {
  return {
    name,
    keyHeader: ["authorization", "Bearer "],
    ...PROVIDER,
    request: (operation, requestId) => requestAt(PATH, operation, requestId),
    probeId: "resp_0",
    fault,
    data,
    salvage: (torn) => salvageId(torn, "id|response_id", shape),
  };
}

/** An error in the form of the Responses API. */
export function fault(
  operation: Operation,
  httpStatus: number,
  answer: unknown,
  retryAfter?: number,
): ServiceError | undefined {
  const error = fields(fields(answer).error);
  const [code, type] = [text(error.code), text(error.type)];
  // OpenAI says `insufficient_quota` in the type, with another code beside it.
  const word = type === "insufficient_quota" ? type : (code ?? type);
  const message = text(error.message) ?? word;
  return providerError(operation, httpStatus, { code: word, message, retryAfter });
}

function data(operation: Operation, value: unknown): Data | string {
  const answer = fields(value);
  const { status, created_at: created } = answer;
  const id = answer.id ?? answer.response_id;
  if (operation === "create" && /^(?:req|msg)_/.test(String(id))) return "the answer has no id";
  const messages = items(answer.output).filter(({ type }) => type === "message");
  const searches = items(answer.output).filter(({ type }) => type === "search_results");
  const { output, refusal, ranges, annotations } = textIn(messages);
  const result = resultIn(output, isStructured(answer));
  const results = searches.flatMap((search) => items(search.results));
  const numbered = typeof result === "string" ? numbersIn(result, results) : [];
  const citations = typeof result === "string" ? [...ranges, ...numbered] : [];
  const more = {
    output: result,
    cost_dollars: costIn(answer),
    // The numbers in the text are those of the search results, the same address twice included.
    sources: numbered.length > 0 ? readNumberedSources(results) : sourcesIn([...annotations, ...results]),
    citations: citations.length > 0 ? citations : undefined,
    // OpenAI shows no output before the end.
    progress: progressIn(status, items(answer.output), "search_results", (item) =>
      item.type === "fetch_url_results" ? item.contents : undefined,
    ),
    stop_reason: text(fields(answer.incomplete_details).reason),
  };
  return answerData(operation, answer, { id, status, created, refusal }, more);
}

/** Returns the texts of messages as one, what the model refuses, what each part cites in the text, and all that is annotated. */
function textIn(messages: readonly Fields[]) {
  let output = "";
  const ranges: Citation[] = [];
  const annotations: Fields[] = [];
  for (const message of messages) {
    const parts = items(message.content);
    const isEmpty = !parts.some((part) => part.type === "output_text" && part.text);
    if (output !== "" && !isEmpty) output += "\n\n";
    for (const part of parts) {
      annotations.push(...items(part.annotations));
      if (part.type !== "output_text" || typeof part.text !== "string") continue;
      ranges.push(...rangesIn(items(part.annotations), output.length, part.text.length));
      output += part.text;
    }
  }
  const refusals = messages.flatMap(({ content }) =>
    items(content).flatMap((part) => text(part.refusal) ?? []),
  );
  return { output: text(output), refusal: text(refusals.join("\n\n")), ranges, annotations };
}

/** What the numbers of a text, as in `[2]` or `[web:2]`, cite: each is the place of a search result, from 1. */
function numbersIn(output: string, results: readonly Fields[]): Citation[] {
  return [...output.matchAll(/\[(?:web:)?(\d{1,3})\](?!\()/g)].flatMap((match) => {
    const { url } = results[Number(match[1]) - 1] ?? {};
    const end = match.index + match[0].length;
    return typeof url === "string" ? [{ start: match.index, end, url }] : [];
  });
}

/** Whether the answer repeats that a schema was asked for, as OpenAI's does and Perplexity's does not. */
function isStructured(answer: Fields): boolean {
  return fields(fields(answer.text).format).type === "json_schema";
}

function costIn(answer: Fields): number | undefined {
  const { total_cost: cost, currency = "USD" } = fields(fields(answer.usage).cost);
  return typeof cost === "number" && currency === "USD" ? cost : undefined;
}

import { readRetryAfter } from "../../../core/http/exchange.js";
import { isObject, tryParseJson } from "../../../core/json/exact-json.js";
import { shortenLine } from "../../../core/text/phrases.js";

/** A reply of the model. */
export interface ModelReply {
  text: string;
  /** Why it ended, as in `stop` and `length`. */
  finish: string;
  /** What the endpoint counted as input, if it said so. In tokens. */
  promptTokens?: number;
  /** And as output. */
  outputTokens?: number;
}

/**
 * What became of one request to the endpoint, where there is no reply:
 * - `cut`: the stream ended before the reply did; it may have cost as much as a whole one
 * - `busy`: nothing was done, and a later try may succeed, after `afterMs` if the endpoint says so
 * - `unreachable`: no answer came
 * - `unsupported`: a parameter is not known to the endpoint
 * - `too-long`: the request is longer than what the model takes
 * - `refused`: it will not be otherwise later
 */
export interface NoReply {
  kind: "cut" | "busy" | "unreachable" | "unsupported" | "too-long" | "refused";
  /** A phrase that follows the name of the endpoint. */
  message: string;
  afterMs?: number | undefined;
}

/** Characters that a token has at most on average; an endpoint that sends more ignores its limit. */
const CHARACTERS_PER_TOKEN = 8;
/** What an answer may have at most, in bytes: for each token of the limit, an event with its envelope, and for the rest. */
const BYTES_PER_TOKEN = 1_000;
const BYTES_BESIDE = 262_144;

/**
 * Puts together a chat completion from a stream of server-sent events, or from the one JSON object that an endpoint
 * without streaming answers with.
 */
export class Completion {
  text = "";
  counts: Pick<ModelReply, "promptTokens" | "outputTokens"> = {};
  /** Why the model stopped; undefined as long as it has not. */
  finish: string | undefined;
  /** The endpoint's own sentence, if it sent an error instead. */
  error: string | undefined;
  /** Whether nothing more is to come. */
  ended = false;
  /** What came before the first text: if the answer is not an event stream, all of it. */
  body = "";
  /** The beginning of a line that has not ended. */
  #open = "";
  #bytes = 0;
  #pieces = 0;
  readonly #decoder = new TextDecoder();

  /** `maxTokens` is the limit of the output that was asked for. */
  constructor(private readonly maxTokens: number) {}

  /** Whether more came than was asked for: text, or bytes that are no text. */
  get isOverLimit(): boolean {
    return (
      this.#pieces > this.maxTokens ||
      this.text.length > this.maxTokens * CHARACTERS_PER_TOKEN ||
      this.#bytes > this.maxTokens * BYTES_PER_TOKEN + BYTES_BESIDE
    );
  }

  /** Takes a piece of the body. */
  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const piece = this.#decoder.decode(bytes, { stream: true });
    if (this.text === "") this.body += piece;
    const [first = "", ...lines] = piece.split("\n");
    // Only what is new is searched for the end of a line: one may be as long as the limit.
    this.#open += first;
    for (const line of lines) {
      this.#endLine();
      this.#open = line;
    }
  }

  /** The body has ended; one that is not an event stream may be a whole completion. */
  end(): void {
    this.#endLine();
    this.#read(this.body, "message");
    if (this.finish !== undefined) this.ended = true;
  }

  #endLine(): void {
    const data = this.#open.startsWith("data:") ? this.#open.slice("data:".length).trim() : "";
    if (this.ended) return;
    if (data === "[DONE]") this.ended = true;
    else this.#read(data, "delta");
  }

  #read(json: string, part: "delta" | "message"): void {
    const event = tryParseJson(json);
    if (!isObject(event)) return;
    if (event.error !== undefined && event.error !== null) this.error = readError(event) ?? "an error";
    if (isObject(event.usage)) this.counts = readCounts(event.usage);
    const [choice] = Array.isArray(event.choices) ? event.choices : [];
    if (!isObject(choice)) return;
    if (typeof choice.finish_reason === "string") this.finish = choice.finish_reason;
    const message = choice[part];
    if (!isObject(message)) return;
    const thought = message.reasoning_content ?? message.reasoning;
    // A refusal stands in the place of the content.
    const text = message.content ?? message.refusal;
    if (typeof text === "string") this.text += text;
    if (part === "delta" && (message.content || thought)) this.#pieces += 1;
  }
}

/** An answer that has come as far as it will. Names of headers are in lower case. */
export interface EndpointAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  completion: Completion;
  /** Why it broke off; undefined if it came to its end. */
  failure: string | undefined;
}

const TOO_LONG =
  /context[ _-]?(?:length|window|size)|too (?:long|many tokens)|maximum context|exceeds? the .*(?:context|token)/i;
const UNKNOWN_MODEL =
  /model.{0,80}(?:not|n't|un)[ _-]?(?:found|exist|known|available|supported)|model_not_found|(?:unknown|no such) model/i;
const NO_CREDIT = /insufficient_quota|billing|credit/i;
/** How much of an endpoint's sentence is passed on, in characters. */
const SHOWN = 200;

/**
 * Reads an answer of the endpoint. `now` is epoch ms, for a `Retry-After` that is a date; `hide` takes the key out of
 * a text, before it is shortened: a part of a key would not be found.
 */
export function classify(
  answer: EndpointAnswer,
  model: string,
  now: number,
  hide: (text: string) => string,
): ModelReply | NoReply {
  const { status, headers, completion } = answer;
  if (status === 200) return readCompletion(answer, hide);
  const { body } = completion;
  const complaint = readError(tryParseJson(body)) ?? completion.error ?? "";
  const detail =
    complaint === "" ? `HTTP ${status}` : `HTTP ${status}: ${shortenLine(hide(complaint), SHOWN)}`;
  const createRefused = (message: string): NoReply => ({ kind: "refused", message });
  if (status >= 300 && status < 400) {
    const location = String(headers.location);
    const target = URL.canParse(location) ? ` to ${new URL(location).host}` : "";
    return createRefused(`redirects${target}, and the key is sent nowhere else (${detail})`);
  }
  // Not its own sentence: some endpoints quote the beginning of the key in it.
  if (status === 401 || status === 403) return createRefused(`refuses the key (HTTP ${status})`);
  if (status === 404 || UNKNOWN_MODEL.test(complaint) || UNKNOWN_MODEL.test(body.slice(0, 2_000)))
    return createRefused(`does not know the model ${JSON.stringify(model)} (${detail})`);
  if (status === 429 && NO_CREDIT.test(body)) return createRefused(`has no credit left (${detail})`);
  if (status === 413 || (status < 500 && TOO_LONG.test(complaint)))
    return { kind: "too-long", message: detail };
  if (status === 429 || status === 408 || status >= 500) {
    const seconds = readRetryAfter(headers, now);
    return { kind: "busy", message: `is busy (${detail})`, afterMs: seconds && seconds * 1_000 };
  }
  if (status === 400 || status === 422) return { kind: "unsupported", message: `answered ${detail}` };
  return createRefused(`answered ${detail}`);
}

function readCompletion({ completion, failure }: EndpointAnswer, hide: (text: string) => string) {
  const { counts, error, ended, finish = "stop", isOverLimit } = completion;
  const text = hide(completion.text);
  const cut = (why: string): NoReply => ({ kind: "cut", message: `broke off its reply (${why})` });
  if (error !== undefined) {
    const message = shortenLine(hide(error), SHOWN);
    return TOO_LONG.test(error) ? ({ kind: "too-long", message } as const) : cut(message);
  }
  if (isOverLimit || ended) return { text, finish: isOverLimit ? "length" : finish, ...counts };
  if (failure !== undefined || text !== "") return cut(failure ?? "the stream ended before the reply did");
  return { kind: "refused", message: "answered with no chat completion" } as const;
}

/** The sentence in an error body of any usual shape; undefined if there is none. */
function readError(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { error, message, detail } = body;
  const text = isObject(error) ? (error.message ?? error.code ?? error.type) : (error ?? message ?? detail);
  return typeof text === "string" ? text : undefined;
}

function readCounts(usage: Record<string, unknown>): Completion["counts"] {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const promptTokens = countOf(prompt_tokens);
  const outputTokens = Math.max(countOf(completion_tokens), countOf(total_tokens) - promptTokens);
  return promptTokens + outputTokens > 0 ? { promptTokens, outputTokens } : {};
}

function countOf(value: unknown): number {
  return Number.isFinite(value) ? Math.max(0, Number(value)) : 0;
}

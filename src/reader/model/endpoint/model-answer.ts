import { parseRetryAfter } from "../../../core/http/send-request.js";
import { isObject, tryParseJson } from "../../../core/json/exact-json.js";
import { shortenLine } from "../../../core/text/format-text.js";

/** A reply of the model. */
export interface ModelReply {
  text: string;
  /** The finish reason of the endpoint, such as `stop` or `length`. */
  finish: string;
  /** The input tokens that the endpoint counted; undefined if it reports no usage. */
  promptTokens?: number;
  /** The output tokens that the endpoint counted; undefined if it reports no usage. */
  outputTokens?: number;
}

/**
 * The outcome of a request without a usable reply:
 * - `cut`: the stream ended in the middle of the reply, which may have cost as much as a whole one
 * - `busy`: the endpoint did nothing; a retry may succeed, after `afterMs` if the endpoint names a time
 * - `unreachable`: no answer arrived
 * - `unsupported`: the endpoint does not know a parameter
 * - `too-long`: the request exceeds the model's context
 * - `refused`: a retry would not help
 */
export interface NoReply {
  kind: "cut" | "busy" | "unreachable" | "unsupported" | "too-long" | "refused";
  /** A phrase whose subject is the endpoint. */
  message: string;
  afterMs?: number | undefined;
}

/** The most characters per token, on average. An endpoint that sends more ignores the output limit. */
const CHARACTERS_PER_TOKEN = 8;
/** The size limit of an answer, in bytes: an event with its envelope per token, and an allowance for everything else. */
const BYTES_PER_TOKEN = 1_000;
const BYTES_BESIDE = 262_144;

/** Assembles a chat completion from server-sent events, or from the single JSON object of an endpoint without streaming. */
export class Completion {
  text = "";
  counts: Pick<ModelReply, "promptTokens" | "outputTokens"> = {};
  /** Why the model stopped; undefined until the endpoint reports it. */
  finish: string | undefined;
  /** The error message that the endpoint sent in the answer; undefined without one. */
  error: string | undefined;
  /** Whether the completion has ended. */
  ended = false;
  /** The body up to the first text; the whole body if the answer is not an event stream. */
  body = "";
  /** The incomplete last line. */
  #open = "";
  #bytes = 0;
  #pieces = 0;
  readonly #decoder = new TextDecoder();

  /** `maxTokens` is the requested limit of the output. */
  constructor(private readonly maxTokens: number) {}

  /** Whether the endpoint sent more text, or more bytes in total, than the requested limit allows. */
  get isOverLimit(): boolean {
    return (
      this.#pieces > this.maxTokens ||
      this.text.length > this.maxTokens * CHARACTERS_PER_TOKEN ||
      this.#bytes > this.maxTokens * BYTES_PER_TOKEN + BYTES_BESIDE
    );
  }

  /** Adds a piece of the body. */
  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const piece = this.#decoder.decode(bytes, { stream: true });
    if (this.text === "") this.body += piece;
    const [first = "", ...lines] = piece.split("\n");
    // Search only the new piece for line ends, because a line may be as long as the limit.
    this.#open += first;
    for (const line of lines) {
      this.#endLine();
      this.#open = line;
    }
  }

  /** Ends the body. If the body is a single JSON object and not an event stream, reads the completion from it. */
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
    if (event.error !== undefined && event.error !== null) this.error = findErrorMessage(event) ?? "an error";
    if (isObject(event.usage)) this.counts = readTokenCounts(event.usage);
    const [choice] = Array.isArray(event.choices) ? event.choices : [];
    if (!isObject(choice)) return;
    if (typeof choice.finish_reason === "string") this.finish = choice.finish_reason;
    const message = choice[part];
    if (!isObject(message)) return;
    const thought = message.reasoning_content ?? message.reasoning;
    // If the model refuses, `refusal` has the text and `content` is null.
    const text = message.content ?? message.refusal;
    if (typeof text === "string") this.text += text;
    if (part === "delta" && (message.content || thought)) this.#pieces += 1;
  }
}

/** The part of an HTTP answer that was received. Header names are in lower case. */
export interface EndpointAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  completion: Completion;
  /** Why the answer is incomplete; undefined if it is complete. */
  failure: string | undefined;
}

const TOO_LONG =
  /context[ _-]?(?:length|window|size)|too (?:long|many tokens)|maximum context|exceeds? the .*(?:context|token)/i;
const UNKNOWN_MODEL =
  /model.{0,80}(?:not|n't|un)[ _-]?(?:found|exist|known|available|supported)|model_not_found|(?:unknown|no such) model/i;
const NO_CREDIT = /insufficient_quota|billing|credit/i;
/** The most characters of an endpoint's message that are passed on. */
const SHOWN = 200;

/**
 * Classifies an answer of the endpoint. `now` (epoch ms) is for a `Retry-After` with a date. `hide` removes the key from a
 * text; it is applied before the text is shortened, because it would not recognize a part of the key.
 */
export function classifyModelAnswer(
  answer: EndpointAnswer,
  model: string,
  now: number,
  hide: (text: string) => string,
): ModelReply | NoReply {
  const { status, headers, completion } = answer;
  if (status === 200) return readCompletion(answer, hide);
  const { body } = completion;
  const complaint = findErrorMessage(tryParseJson(body)) ?? completion.error ?? "";
  const detail =
    complaint === "" ? `HTTP ${status}` : `HTTP ${status}: ${shortenLine(hide(complaint), SHOWN)}`;
  const createRefused = (message: string): NoReply => ({ kind: "refused", message });
  if (status >= 300 && status < 400) {
    const location = String(headers.location);
    const target = URL.canParse(location) ? ` to ${new URL(location).host}` : "";
    return createRefused(`redirects${target}, and the key is sent nowhere else (${detail})`);
  }
  // Do not pass on the endpoint's message, because some endpoints quote the beginning of the key in it.
  if (status === 401 || status === 403) return createRefused(`refuses the key (HTTP ${status})`);
  if (status === 404 || UNKNOWN_MODEL.test(complaint) || UNKNOWN_MODEL.test(body.slice(0, 2_000)))
    return createRefused(`does not know the model ${JSON.stringify(model)} (${detail})`);
  if (status === 429 && NO_CREDIT.test(body)) return createRefused(`has no credit left (${detail})`);
  if (status === 413 || (status < 500 && TOO_LONG.test(complaint)))
    return { kind: "too-long", message: detail };
  if (status === 429 || status === 408 || status >= 500) {
    const seconds = parseRetryAfter(headers, now);
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
  return { kind: "refused", message: "sent an answer that is not a chat completion" } as const;
}

/** Finds the message in an error body of any common form; undefined if there is none. */
function findErrorMessage(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { error, message, detail } = body;
  const text = isObject(error) ? (error.message ?? error.code ?? error.type) : (error ?? message ?? detail);
  return typeof text === "string" ? text : undefined;
}

function readTokenCounts(usage: Record<string, unknown>): Completion["counts"] {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const promptTokens = readCount(prompt_tokens);
  const outputTokens = Math.max(readCount(completion_tokens), readCount(total_tokens) - promptTokens);
  return promptTokens + outputTokens > 0 ? { promptTokens, outputTokens } : {};
}

function readCount(value: unknown): number {
  return Number.isFinite(value) ? Math.max(0, Number(value)) : 0;
}

import { isObject, parsed } from "../json.js";

/** What an endpoint counted, in tokens. */
export interface Usage {
  prompt: number;
  completion: number;
}

/** Bytes of output that a token has at most on average; an endpoint that sends more ignores its limit. */
const BYTES_PER_TOKEN = 8;

/**
 * Puts together a chat completion from a stream of server-sent events, or from the one JSON object that an endpoint
 * without streaming answers with.
 */
export class Completion {
  text = "";
  usage: Usage | undefined;
  /** Why the model stopped; undefined as long as it has not. */
  finish: string | undefined;
  /** The endpoint's own sentence, if it sent an error instead. */
  error: string | undefined;
  /** Whether nothing more is to come. */
  ended = false;
  #buffer = "";
  #pieces = 0;
  readonly #decoder = new TextDecoder();

  /** `maxTokens` is the limit of the output that was asked for. */
  constructor(private readonly maxTokens: number) {}

  /** Whether the model wrote more than it was asked for. */
  get isOverLimit(): boolean {
    return this.#pieces > this.maxTokens || this.text.length > this.maxTokens * BYTES_PER_TOKEN;
  }

  /** Takes a piece of the body of an event stream. */
  push(bytes: Uint8Array): void {
    this.#buffer += this.#decoder.decode(bytes, { stream: true });
    const lines = this.#buffer.split(/\r\n|\n|\r(?!$)/);
    this.#buffer = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  /** The body has ended; one that is no event stream may be a whole completion. `hide` takes the key out of a text. */
  end(body: string, hide: (text: string) => string): void {
    if (this.#buffer !== "") this.#line(this.#buffer);
    if (!this.ended && this.finish === undefined && this.text === "") this.#read(body, "message");
    if (this.finish !== undefined) this.ended = true;
    this.text = hide(this.text);
    this.error = this.error && hide(this.error);
  }

  #line(line: string): void {
    const data = /^data: ?(.*)$/.exec(line)?.[1]?.trim();
    if (data === undefined || this.ended) return;
    if (data === "[DONE]") this.ended = true;
    else this.#read(data, "delta");
  }

  #read(json: string, part: "delta" | "message"): void {
    const event = parsed(json);
    if (!isObject(event)) return;
    if (event.error !== undefined && event.error !== null) this.error = errorOf(event) ?? "an error";
    if (isObject(event.usage)) this.usage = usageOf(event.usage) ?? this.usage;
    const [choice] = Array.isArray(event.choices) ? event.choices : [];
    if (!isObject(choice)) return;
    if (typeof choice.finish_reason === "string") this.finish = choice.finish_reason;
    const message = choice[part];
    if (!isObject(message)) return;
    const thought = message.reasoning_content ?? message.reasoning;
    if (typeof message.content === "string") this.text += message.content;
    if (part === "delta" && (message.content || thought)) this.#pieces += 1;
  }
}

/** The sentence in an error body of any usual shape; undefined if there is none. */
export function errorOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { error, message, detail } = body;
  const said = isObject(error) ? (error.message ?? error.code ?? error.type) : (error ?? message ?? detail);
  return typeof said === "string" ? said : undefined;
}

function usageOf({
  prompt_tokens,
  completion_tokens,
  total_tokens,
}: Record<string, unknown>): Usage | undefined {
  const prompt = countOf(prompt_tokens) ?? 0;
  const completion = Math.max(countOf(completion_tokens) ?? 0, (countOf(total_tokens) ?? 0) - prompt);
  return prompt + completion > 0 ? { prompt, completion } : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

import { isObject } from "../../../../json/is-object.js";
import { parsed } from "../json.js";

/** What an endpoint counted, in tokens. */
export interface Usage {
  prompt: number;
  completion: number;
}

/** Characters that a token has at most on average; an endpoint that sends more ignores its limit. */
const CHARACTERS_PER_TOKEN = 8;
/** What a stream may have at most, in bytes: for each token of the limit, an event with its envelope, and for the rest. */
const BYTES_PER_TOKEN = 1_000;
const BYTES_BESIDE = 262_144;

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
  /** The pieces of a line that has not ended. */
  #open: string[] = [];
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

  /** Takes a piece of the body of an event stream. */
  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const [first = "", ...lines] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    // Only what is new is searched for the end of a line: one may be as long as the limit.
    this.#open.push(first);
    for (const line of lines) {
      this.#endLine();
      this.#open = [line];
    }
  }

  /** The body has ended; one that is no event stream may be a whole completion. `hide` takes the key out of a text. */
  end(body: string, hide: (text: string) => string): void {
    this.#endLine();
    if (!this.ended && this.finish === undefined && this.text === "") this.#read(body, "message");
    if (this.finish !== undefined) this.ended = true;
    this.text = hide(this.text);
    this.error = this.error && hide(this.error);
  }

  #endLine(): void {
    const data = /^data: ?(.*?)\r?$/.exec(this.#open.join(""))?.[1]?.trim();
    this.#open = [];
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

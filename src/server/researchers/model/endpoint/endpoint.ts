import type { Dispatcher } from "undici";
import { keyPattern } from "../../../../protocol/key-pattern.js";
import { Completion } from "./completion.js";
import { bodyOf, type ChatRequest, type Dialect, FULL_DIALECT, simpler } from "./dialect.js";
import { type PostRequest, post, type ResponseHeaders } from "./http.js";
import { classify, isJsonAnswer, type Outcome } from "./outcome.js";

/** The connections to the endpoint; their maker decides on proxies and certificates. */
export interface EndpointConnections {
  shared(): Promise<Dispatcher>;
  /** The request as it is sent: a proxy for plain http wants another form. */
  route(request: PostRequest): PostRequest;
  close(): Promise<void>;
}

export interface EndpointOptions {
  /** Of the API, as in `https://api.example.com/v1`, with or without `/chat/completions` at its end. */
  url: URL;
  model: string;
  /** Sent as a bearer token, to this origin only; without it no `Authorization` is sent. */
  apiKey: string | undefined;
  connections: EndpointConnections;
  /** Epoch ms. */
  now: () => number;
}

/** More of an answer that is no event stream is not read. */
const MAX_BODY_BYTES = 8 * 1_048_576;
/** A shorter text is no key worth hiding, and hiding it would garble replies that merely contain it. */
const SHORTEST_KEY = 8;

/** A model at an OpenAI-compatible endpoint. Knows what the endpoint has refused so far. */
export class Endpoint {
  #dialect: Dialect = FULL_DIALECT;
  readonly #key: RegExp | undefined;
  constructor(private readonly options: EndpointOptions) {
    const { apiKey = "" } = options;
    this.#key = apiKey.length < SHORTEST_KEY ? undefined : keyPattern(apiKey);
  }

  get model(): string {
    return this.options.model;
  }

  /** For messages: scheme, host and port. */
  get origin(): string {
    return this.options.url.origin;
  }

  /** Sends one request and reads the answer to its end. Rejects with `signal.reason` on an abort. */
  async send(request: ChatRequest, signal: AbortSignal): Promise<Outcome> {
    const { url, model, apiKey, connections, now } = this.options;
    const dialect = this.#dialect;
    const completion = new Completion(request.maxTokens);
    const answer = { status: 0, headers: {} as ResponseHeaders, body: "" };
    const decoder = new TextDecoder();
    const reader = {
      head(status: number, headers: ResponseHeaders) {
        Object.assign(answer, { status, headers });
      },
      data(piece: Uint8Array) {
        if (answer.status === 200 && !isJsonAnswer(answer.headers)) completion.push(piece);
        if (completion.text === "") answer.body += decoder.decode(piece, { stream: true });
        return !completion.ended && !completion.isOverLimit && answer.body.length < MAX_BODY_BYTES;
      },
    };
    const headers = {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    };
    const path = `${url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}/chat/completions`;
    const { origin } = url;
    const body = bodyOf(model, request, dialect);
    const posted = connections.route({ origin, method: "POST", path, headers, body });
    const { isWhole, message = "" } = await post(await connections.shared(), posted, reader, signal);
    if (answer.status === 0) return { kind: "unreachable", message: this.hide(message) };
    // Before anything is shortened: a part of a key would not be found.
    answer.body = this.hide(answer.body);
    completion.end(answer.status === 200 ? answer.body : "", (text) => this.hide(text));
    const outcome = classify({ ...answer, completion, isWhole, message }, model, now());
    return this.#learn(outcome, dialect, request.maxTokens);
  }

  /** `text` without the key, as it is or encoded: an endpoint may quote the request in its answer. */
  hide(text: string): string {
    return this.#key === undefined ? text : text.replace(this.#key, "[key]");
  }

  close(): Promise<void> {
    return this.options.connections.close();
  }

  /** Leaves out from now on what was refused; if nothing can be left out, the refusal stands. */
  #learn(outcome: Outcome, dialect: Dialect, maxTokens: number): Outcome {
    if (outcome.kind !== "unsupported") return outcome;
    const next = simpler(dialect, outcome.message, maxTokens);
    if (next === undefined) return { kind: "refused", message: `answered ${outcome.message}` };
    // Another conversation may have learnt it meanwhile.
    if (this.#dialect === dialect) this.#dialect = next;
    return outcome;
  }
}

import type { Dispatcher } from "undici";
import { untilAborted } from "../../../../clock.js";
import { keyPattern } from "../../../../protocol/key-pattern.js";
import { apiParts } from "../../../../undici.js";
import { Completion, classify, type EndpointAnswer, type ModelReply, type NoReply } from "./answer.js";
import { ALL_CAPABILITIES, bodyOf, type ChatRequest, reduced } from "./chat-request.js";

/** One request over HTTP. */
export interface HttpRequest {
  /** Scheme, host and port. */
  origin: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** The connections to the endpoint; their maker decides on proxies and certificates. */
export interface EndpointConnections {
  shared(): Promise<Dispatcher>;
  /** The request as it is sent: a proxy for plain http wants another form. */
  route(request: HttpRequest): HttpRequest;
  close(): Promise<void>;
}

/**
 * Sends a request and resolves with its answer, the body as it comes: it has to be read or destroyed. Follows no
 * redirect, repeats nothing and has no time limit of its own. An abort closes the socket; the promise rejects with
 * `signal.reason` then.
 */
export async function sendVia(
  connections: EndpointConnections,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData<unknown>> {
  const { request: dispatch } = await apiParts();
  const dispatcher = await connections.shared();
  signal.throwIfAborted();
  const options = { ...connections.route(request), signal };
  const answer = await untilAborted(dispatch.call(dispatcher, options as Dispatcher.RequestOptions), signal);
  answer.body.on("error", () => {});
  return answer;
}

/** Why no answer came. A failed connection to several addresses has its reason in the parts only. */
export function reasonOf(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
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

/** A shorter text is not withheld: replies that merely contain it would be garbled. */
const SHORTEST_KEY = 8;

/** A model at an OpenAI-compatible endpoint. Knows what the endpoint has refused so far. */
export class ChatEndpoint {
  #capabilities = ALL_CAPABILITIES;
  readonly #key: RegExp | undefined;
  readonly model: string;
  /** For messages: scheme, host and port. */
  readonly origin: string;
  constructor(private readonly options: EndpointOptions) {
    const { apiKey = "", model, url } = options;
    this.model = model;
    this.origin = url.origin;
    this.#key = apiKey.length < SHORTEST_KEY ? undefined : keyPattern(apiKey);
  }

  /** Sends one request and reads the answer to its end. Rejects with `signal.reason` on an abort. */
  async send(request: ChatRequest, signal: AbortSignal): Promise<ModelReply | NoReply> {
    const { url, model, apiKey, connections, now } = this.options;
    const capabilities = this.#capabilities;
    const completion = new Completion(request.maxTokens);
    const answer: EndpointAnswer = { status: 0, headers: {}, completion, failure: undefined };
    const posted = {
      origin: url.origin,
      method: "POST",
      path: `${url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}/chat/completions`,
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: bodyOf(model, request, capabilities),
    };
    try {
      const { statusCode, headers, body } = await sendVia(connections, posted, signal);
      Object.assign(answer, { status: statusCode, headers });
      for await (const piece of body) {
        completion.push(piece);
        // To leave the loop closes the connection: the rest is not wanted.
        if (completion.ended || completion.isOverLimit) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      answer.failure = this.hide(reasonOf(error));
    }
    if (answer.status === 0)
      return { kind: "unreachable", message: `could not be reached: ${answer.failure}` };
    completion.end();
    const outcome = classify(answer, model, now(), (text) => this.hide(text));
    if (!("kind" in outcome) || outcome.kind !== "unsupported") return outcome;
    const next = reduced(capabilities, outcome.message, request.maxTokens);
    if (next === undefined) return { ...outcome, kind: "refused" };
    // Another conversation may have learnt it meanwhile.
    if (this.#capabilities === capabilities) this.#capabilities = next;
    return outcome;
  }

  /** `text` without the key, as it is or encoded: an endpoint may quote the request in its answer. */
  hide(text: string): string {
    return this.#key === undefined ? text : text.replace(this.#key, "[key]");
  }

  close(): Promise<void> {
    return this.options.connections.close();
  }
}

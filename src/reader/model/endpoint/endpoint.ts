import { type Clock, runWithDeadline } from "../../../core/clock.js";
import type { Connections } from "../../../core/http/connections.js";
import { describeReason } from "../../../core/http/exchange.js";
import { sendVia } from "../../../core/http/send.js";
import { createKeyHider } from "../../../core/secrets/key.js";
import { Completion, classify, type EndpointAnswer, type ModelReply, type NoReply } from "./answer.js";
import { ALL_CAPABILITIES, buildBody, type ChatRequest, reduceCapabilities } from "./chat-request.js";

export interface EndpointOptions {
  /** Of the API, as in `https://api.example.com/v1`, with or without `/chat/completions` at its end. */
  url: URL;
  model: string;
  /** Sent as a bearer token, to this origin only; without it no `Authorization` is sent. */
  apiKey: string | undefined;
  /** Their maker decides on proxies and certificates. */
  connections: Pick<Connections, "getShared" | "routeRequest" | "close">;
  clock: Clock;
  /** An answer of which no byte comes for so long has ended, ms; undefined: the endpoint may take its time. */
  silenceMs?: number | undefined;
}

const SILENT = new Error("no byte came");

/** A model at an OpenAI-compatible endpoint. Knows what the endpoint has refused so far. */
export class ChatEndpoint {
  #capabilities = ALL_CAPABILITIES;
  /** A text without the key: an endpoint may quote the request in its answer. */
  readonly hide: (text: string) => string;
  readonly model: string;
  /** For messages: scheme, host and port. */
  readonly origin: string;
  constructor(private readonly options: EndpointOptions) {
    const { apiKey = "", model, url } = options;
    this.model = model;
    this.origin = url.origin;
    this.hide = createKeyHider(apiKey);
  }

  /** Whether the endpoint asks for a key and there is none: it refuses to list its models. Any other answer says nothing. */
  async lacksKey(signal: AbortSignal): Promise<boolean> {
    const { url, apiKey, connections } = this.options;
    if (apiKey !== undefined) return false;
    const request = { origin: url.origin, method: "GET", path: this.#path("models"), headers: {} };
    try {
      const { statusCode, body } = await sendVia(connections, request, signal);
      body.destroy();
      return statusCode === 401 || statusCode === 403;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  /** Sends one request and reads the answer to its end. Rejects with `signal.reason` on an abort. */
  async send(request: ChatRequest, signal: AbortSignal): Promise<ModelReply | NoReply> {
    const { url, model, apiKey, connections, clock, silenceMs } = this.options;
    const capabilities = this.#capabilities;
    const completion = new Completion(request.maxTokens);
    const answer: EndpointAnswer = { status: 0, headers: {}, completion, failure: undefined };
    const posted = {
      origin: url.origin,
      method: "POST",
      path: this.#path("chat/completions"),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: buildBody(model, request, capabilities),
    };
    const read = async (until: AbortSignal, restart = () => {}) => {
      const { statusCode, headers, body } = await sendVia(connections, posted, until);
      Object.assign(answer, { status: statusCode, headers });
      for await (const piece of body) {
        restart();
        completion.push(piece);
        // To leave the loop closes the connection: the rest is not wanted.
        if (completion.ended || completion.isOverLimit) break;
      }
    };
    try {
      await (silenceMs === undefined
        ? read(signal)
        : runWithDeadline(clock, silenceMs, signal, SILENT, read));
    } catch (error) {
      signal.throwIfAborted();
      if (error === SILENT)
        return { kind: "refused", message: `sent nothing for ${(silenceMs ?? 0) / 1_000} s` };
      answer.failure = this.hide(describeReason(error));
    }
    if (answer.status === 0)
      return { kind: "unreachable", message: `could not be reached: ${answer.failure}` };
    completion.end();
    const outcome = classify(answer, model, clock.now(), (text) => this.hide(text));
    if (!("kind" in outcome) || outcome.kind !== "unsupported") return outcome;
    const next = reduceCapabilities(capabilities, outcome.message, request.maxTokens);
    if (next === undefined) return { ...outcome, kind: "refused" };
    // Another conversation may have learnt it meanwhile.
    if (this.#capabilities === capabilities) this.#capabilities = next;
    return outcome;
  }

  #path(end: string): string {
    return `${this.options.url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}/${end}`;
  }

  close(): Promise<void> {
    return this.options.connections.close();
  }
}

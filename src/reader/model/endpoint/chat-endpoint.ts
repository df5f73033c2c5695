import { type Clock, runWithDeadline } from "../../../core/clock.js";
import { dispatchRequest } from "../../../core/http/dispatch-request.js";
import type { Connections } from "../../../core/http/origin-connections.js";
import { describeConnectFailure } from "../../../core/http/send-request.js";
import { createKeyHider } from "../../../core/secrets/hide-key.js";
import { ALL_CAPABILITIES, buildChatBody, type ChatRequest, reduceCapabilities } from "./chat-request.js";
import {
  Completion,
  classifyModelAnswer,
  type EndpointAnswer,
  type ModelReply,
  type NoReply,
} from "./model-answer.js";

export interface EndpointOptions {
  /** The base address of the API, such as `https://api.example.com/v1`, with or without `/chat/completions`. */
  url: URL;
  model: string;
  /** The bearer token, which is sent only to this origin; undefined for an endpoint without authorization. */
  apiKey: string | undefined;
  /** The connections to the endpoint; the caller has configured proxies and certificates. */
  connections: Pick<Connections, "getShared" | "routeRequest" | "close">;
  clock: Clock;
  /** The time without a byte after which a request has failed, ms; undefined: no limit. */
  silenceMs?: number | undefined;
}

const SILENT = new Error("no byte came");

/** A model at an OpenAI-compatible endpoint. Remembers which parameters the endpoint refused. */
export class ChatEndpoint {
  #capabilities = ALL_CAPABILITIES;
  /** Removes the key from a text, because an endpoint may quote the request in its answer. */
  readonly hide: (text: string) => string;
  readonly model: string;
  /** The scheme, host and port of the endpoint, for messages. */
  readonly origin: string;
  constructor(private readonly options: EndpointOptions) {
    const { apiKey = "", model, url } = options;
    this.model = model;
    this.origin = url.origin;
    this.hide = createKeyHider(apiKey);
  }

  /** Returns whether no key is set and the endpoint refuses to list its models, so that it needs one. False if that is not certain. */
  async lacksKey(signal: AbortSignal): Promise<boolean> {
    const { url, apiKey, connections } = this.options;
    if (apiKey !== undefined) return false;
    const request = { origin: url.origin, method: "GET", path: this.#buildPath("models"), headers: {} };
    try {
      const { statusCode, body } = await dispatchRequest(connections, request, signal);
      body.destroy();
      return statusCode === 401 || statusCode === 403;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  /** Sends one request and reads the whole answer. Rejects only with `signal.reason`. */
  async send(request: ChatRequest, signal: AbortSignal): Promise<ModelReply | NoReply> {
    const { url, model, apiKey, connections, clock, silenceMs } = this.options;
    const capabilities = this.#capabilities;
    const completion = new Completion(request.maxTokens);
    const answer: EndpointAnswer = { status: 0, headers: {}, completion, failure: undefined };
    const posted = {
      origin: url.origin,
      method: "POST",
      path: this.#buildPath("chat/completions"),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: buildChatBody(model, request, capabilities),
    };
    const read = async (until: AbortSignal, restart = () => {}) => {
      const { statusCode, headers, body } = await dispatchRequest(connections, posted, until);
      Object.assign(answer, { status: statusCode, headers });
      for await (const piece of body) {
        restart();
        completion.push(piece);
        // Ending the loop closes the connection.
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
      answer.failure = this.hide(describeConnectFailure(error));
    }
    if (answer.status === 0)
      return { kind: "unreachable", message: `could not be reached: ${answer.failure}` };
    completion.end();
    const outcome = classifyModelAnswer(answer, model, clock.now(), (text) => this.hide(text));
    if (!("kind" in outcome) || outcome.kind !== "unsupported") return outcome;
    const next = reduceCapabilities(capabilities, outcome.message, request.maxTokens);
    if (next === undefined) return { ...outcome, kind: "refused" };
    // Another conversation may have reduced the capabilities in the meantime.
    if (this.#capabilities === capabilities) this.#capabilities = next;
    return outcome;
  }

  #buildPath(end: string): string {
    return `${this.options.url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}/${end}`;
  }

  close(): Promise<void> {
    return this.options.connections.close();
  }
}

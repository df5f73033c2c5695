import type { Dispatcher } from "undici";
import { type Clock, systemClock } from "../clock.js";
import { type Dialect, type DialectRequest, InputError } from "../dialects/dialect.js";
import { research } from "../dialects/research.js";
import { type CreateBody, isRequestId, type Operation } from "../protocol/conversation.js";
import { isKeyText } from "../protocol/key-pattern.js";
import {
  type Classification,
  classifyResponse,
  KeyRedactor,
  maxBytes,
  salvageRequestId,
} from "./classify-response.js";
import { RefusedError, ResearchError } from "./errors.js";
import { type ProxyAddress, parseBaseUrl, proxyFor } from "./http/address.js";
import {
  Connections,
  exchange,
  type HttpAnswer,
  headerOf,
  loginRequired,
  type RequestFailure,
} from "./http/transport.js";
import type { ClientEvent, ClientOptions } from "./options.js";

export interface CallLimits {
  signal?: AbortSignal | undefined;
  /** Milliseconds between the signal and the end of the exchange; default 0. */
  grace?: number;
  /** Milliseconds, where less than the client's own limit. */
  timeout?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One service, one key: turns an operation into one exchange and classifies its answer. Repeats nothing. */
export class Session {
  readonly origin: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly #prefix: string;
  readonly #options: ClientOptions;
  #dialect: Dialect | (() => Promise<Dialect>);
  readonly #timeout: number;
  readonly #redactor: KeyRedactor;
  readonly #connections: Connections;
  readonly #proxy: ProxyAddress | undefined;

  /** Opens nothing yet. Throws TypeError, BaseUrlError, or ResearchError `USAGE` (proxy) or `NOT_AUTHENTICATED` (key). */
  constructor(options: ClientOptions) {
    requireText("baseUrl", options.baseUrl);
    requireText("apiKey", options.apiKey);
    const base = parseBaseUrl(options.baseUrl, options.insecureHttp ?? false);
    // §5: the key stands in a header, so anything but visible ASCII would be refused or, worse, split it.
    if (!isKeyText(options.apiKey)) {
      throw new ResearchError(
        "NOT_AUTHENTICATED",
        "the API key is empty or has a character that no key has (a space, a line break, a letter beyond ASCII)",
      );
    }
    this.origin = base.origin;
    this.#prefix = base.pathname.replace(/\/$/, "");
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.#options = options;
    this.#redactor = new KeyRedactor(options.apiKey);
    this.#dialect = options.dialect ?? research(options.gaps);
    this.#timeout = Math.min(options.requestTimeout ?? DEFAULT_TIMEOUT_MS, MAX_TIMER_MS);
    this.#proxy = proxyFor(base, options.proxyEnvironment ?? process.env);
    this.#connections = new Connections(base, this.#proxy, this.#timeout);
  }

  /** How the service is spoken to. */
  async dialect(): Promise<Dialect> {
    if (typeof this.#dialect === "function") this.#dialect = await this.#dialect();
    return this.#dialect;
  }

  /** §4.1 as it would be sent. Rejects with ResearchError `USAGE` for what the service cannot be asked. */
  async createRequest(body: CreateBody): Promise<DialectRequest> {
    const dialect = await this.dialect();
    try {
      return dialect.create(body);
    } catch (error) {
      if (error instanceof InputError) throw new ResearchError("USAGE", error.message, { hint: error.hint });
      throw error;
    }
  }

  /** §4.1: the one operation without an id. `requestId` is the one in the answer, whatever else that is. */
  async create(
    request: DialectRequest,
    limits: CallLimits,
  ): Promise<{ requestId: string | undefined; result: Classification }> {
    const dialect = await this.dialect();
    const answer = await this.#send("create", request, dialect, limits);
    const result = this.#classify("create", request, dialect, answer);
    const requestId = result.kind === "data" ? result.data.request_id : salvageRequestId(answer, dialect);
    const isGood = isRequestId(requestId) && !this.#redactor.isIn(requestId);
    return { requestId: isGood ? requestId : undefined, result };
  }

  /** §4.2 to §4.4. Refused unsent where the service cannot do it. Throws ResearchError `USAGE` for an invalid id. */
  async call(
    operation: Exclude<Operation, "create">,
    requestId: string,
    limits: CallLimits,
  ): Promise<Classification> {
    if (!isRequestId(requestId)) {
      throw new ResearchError("USAGE", `not a request id: ${JSON.stringify(requestId)}`);
    }
    const dialect = await this.dialect();
    const request = dialect.request(operation, requestId);
    if (!request) {
      const message = `${dialect.name} has no way to stop a request: ${requestId} goes on and is paid for`;
      return {
        kind: "refused",
        error: new RefusedError("refused", false, "NOT_ALLOWED", message, { requestId }),
      };
    }
    const answer = await this.#send(operation, request, dialect, limits);
    return this.#classify(operation, request, dialect, answer, requestId);
  }

  /** Tells the observer about something that is not silent. */
  emit(event: ClientEvent): void {
    this.#options.onEvent?.(event);
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    await this.#connections.close();
  }

  #classify(
    operation: Operation,
    at: DialectRequest,
    dialect: Dialect,
    answer: HttpAnswer | RequestFailure,
    requestId?: string,
  ): Classification {
    const target = `${at.method} ${this.#url(at)}`;
    const result = classifyResponse(answer, { dialect, operation, requestId, target, now: this.clock.now() });
    return this.#redactor.redactClassification(result);
  }

  #url(at: DialectRequest): string {
    return this.origin + this.#prefix + at.path;
  }

  async #send(
    operation: Operation,
    at: DialectRequest,
    dialect: Dialect,
    limits: CallLimits,
  ): Promise<HttpAnswer | RequestFailure> {
    const request = {
      origin: this.origin,
      method: at.method,
      path: this.#prefix + at.path,
      headers: this.#headers(at, dialect),
      body: at.body,
    };
    const exchangeLimits = {
      timeout: Math.min(limits.timeout ?? this.#timeout, this.#timeout),
      perPiece: operation === "output" || (operation === "status" && dialect.statusIsResult),
      maxBytes: maxBytes(operation, dialect),
      signal: limits.signal,
      grace: limits.grace ?? 0,
    };
    const start = this.clock.monotonic();
    const send = (dispatcher: Dispatcher) =>
      exchange(dispatcher, this.#connections.route(request), exchangeLimits);
    const answer = loginRequired(
      operation === "create"
        ? await this.#connections.fresh(send)
        : await send(await this.#connections.shared()),
      this.#proxy,
    );
    const outcome = answer.kind === "answer" ? `HTTP ${answer.status}` : `${answer.fault}: ${answer.message}`;
    const elapsedMs = this.clock.monotonic() - start;
    const date = headerOf(answer.headers, "date");
    this.emit({ kind: "exchange", method: at.method, url: this.#url(at), outcome, elapsedMs, date });
    return answer;
  }

  #headers(at: DialectRequest, { keyHeader: [name, prefix] }: Dialect): Record<string, string> {
    return {
      [name]: prefix + this.#options.apiKey,
      accept: "application/json",
      "user-agent": this.#options.userAgent ?? "research-cli",
      ...(at.json && { "content-type": "application/json" }),
      ...at.headers,
    };
  }
}

/** For callers without types, and with an environment variable that is not set: it would be sent as "undefined". */
function requireText(option: string, value: unknown): void {
  if (typeof value !== "string") throw new TypeError(`${option} must be a string, and it is ${typeof value}`);
}

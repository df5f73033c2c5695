import type { Dispatcher } from "undici";
import { type Clock, systemClock } from "../../core/clock.js";
import {
  chooseProxy,
  type ProxyAddress,
  type ProxyEnvironment,
  ProxyError,
  parseBaseUrl,
} from "../../core/http/base-url-and-proxy.js";
import { Connections } from "../../core/http/origin-connections.js";
import {
  convertProxy407ToFailure,
  getHeader,
  type HttpAnswer,
  type RequestFailure,
  sendRequest,
} from "../../core/http/send-request.js";
import {
  type CreateBody,
  insertContextFiles,
  isRequestId,
  type Operation,
} from "../../core/protocol/conversation.js";
import { createKeyHider, isSendableKey } from "../../core/secrets/hide-key.js";
import { type Dialect, type DialectRequest, InputError } from "../dialects/dialect.js";
import {
  addProviderDefaults,
  buildRequestBelow,
  findProvider,
  suggestProvider,
} from "../dialects/providers.js";
import { createInterfaceDialect } from "../dialects/research-interface.js";
import { type Classification, classifyResponse, parsePollWaitMs, type Success } from "./classify-response.js";
import type { ClientEvent, ClientOptions } from "./client-options.js";
import { RefusedError, ResearchError, UnreachableError } from "./errors.js";
import { getMaxResponseBytes, salvageRequestId } from "./parse-response-body.js";
import { RequestPacer } from "./request-pacer.js";

export interface CallLimits {
  signal?: AbortSignal | undefined;
  /** Milliseconds that the exchange may take after the signal aborts; default 0. */
  grace?: number;
  /** Maximum duration of the exchange in milliseconds: the rest of the command's time. */
  total?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Node.js fires a timer with a longer delay immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The RequestPacer of each account in this process: by clock, then by origin and key. */
const PACES = new WeakMap<Clock, Map<string, RequestPacer>>();

/** A session with one service and one key. Turns an operation into one exchange and classifies its answer; never retries. */
export class ServiceSession {
  readonly origin: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly #base: URL;
  readonly #options: ClientOptions;
  #dialect: Dialect | (() => Promise<Dialect>);
  readonly #timeout: number;
  readonly #hide: (text: string) => string;
  readonly #connections: Connections;
  readonly #proxy: ProxyAddress | undefined;

  /** Creates a session without opening a connection. Throws TypeError, BaseUrlError, or ResearchError `USAGE` (proxy) or `NOT_AUTHENTICATED` (key). */
  constructor(options: ClientOptions) {
    requireString("baseUrl", options.baseUrl);
    requireString("apiKey", options.apiKey);
    const base = parseBaseUrl(options.baseUrl, options.insecureHttp ?? false);
    requireSendableKey(options.apiKey);
    this.origin = base.origin;
    this.#base = base;
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.#options = options;
    this.#hide = createKeyHider(options.apiKey);
    this.#dialect = options.dialect ?? createInterfaceDialect(options.gaps);
    this.#timeout = Math.min(options.requestTimeout ?? DEFAULT_TIMEOUT_MS, MAX_TIMER_MS);
    this.#proxy = chooseUsableProxy(base, options.proxyEnvironment ?? process.env);
    this.#connections = new Connections(base, this.#proxy, this.#timeout);
  }

  /** Returns the dialect of the service; loads it on the first call. */
  async loadDialect(): Promise<Dialect> {
    if (typeof this.#dialect === "function") this.#dialect = await this.#dialect();
    return this.#dialect;
  }

  /** Returns the RequestPacer that all sessions of this process with the same origin and key share. */
  async loadPace(): Promise<RequestPacer> {
    const { betweenPollsMs, pacesAll } = await this.loadDialect();
    const paces = PACES.get(this.clock) ?? new Map<string, RequestPacer>();
    PACES.set(this.clock, paces);
    const account = `${this.origin} ${this.#options.apiKey}`;
    const pace = paces.get(account) ?? new RequestPacer(betweenPollsMs, pacesAll);
    paces.set(account, pace);
    return pace;
  }

  /** Builds the request of §4.1 without sending it. Rejects with ResearchError `USAGE` if the service does not support it. */
  async createRequest(body: CreateBody): Promise<DialectRequest> {
    const dialect = await this.loadDialect();
    try {
      const request = dialect.create(
        insertContextFiles(addProviderDefaults(findProvider(dialect.name), body)),
      );
      return buildRequestBelow(this.#base, dialect.name, request);
    } catch (error) {
      if (error instanceof InputError) throw new ResearchError("USAGE", error.message, { hint: error.hint });
      throw error;
    }
  }

  /** Sends a create request (§4.1). `requestId` is the id in the answer, even if the answer is not a success. */
  async create(
    request: DialectRequest,
    limits: CallLimits,
  ): Promise<{ requestId: string | undefined; result: Classification }> {
    const dialect = await this.loadDialect();
    const answer = await this.#send("create", request, dialect, limits);
    const result = this.#classify("create", request, dialect, answer);
    const requestId = result.kind === "data" ? result.data.request_id : salvageRequestId(answer, dialect);
    const isGood = isRequestId(requestId) && !this.#hasKeyIn(requestId);
    return { requestId: isGood ? requestId : undefined, result };
  }

  /** Sends a stop, status or output request (§4.2 to §4.4). Refuses without sending if the service lacks it. Throws ResearchError `USAGE` for an invalid id. */
  async call(
    operation: Exclude<Operation, "create">,
    requestId: string,
    limits: CallLimits,
    last?: Success,
  ): Promise<Classification> {
    if (!isRequestId(requestId)) {
      throw new ResearchError("USAGE", `not a request id: ${JSON.stringify(requestId)}`);
    }
    const dialect = await this.loadDialect();
    const dialectRequest = dialect.request(operation, requestId);
    if (!dialectRequest) {
      const { title } = findProvider(dialect.name) ?? { title: dialect.name };
      const message = `${title} has no way to stop a request: ${requestId} goes on and is paid for`;
      return {
        kind: "refused",
        error: new RefusedError("refused", false, "NOT_ALLOWED", message, { requestId }),
      };
    }
    const request = buildRequestBelow(this.#base, dialect.name, dialectRequest);
    const answer = await this.#send(operation, request, dialect, limits);
    // Most polls repeat the previous answer, and parsing it again is a sixth of the cost of a poll.
    if (last?.answer && isSameAnswer(last.answer, answer))
      return { ...last, waitMs: parsePollWaitMs(answer, this.clock.now()) };
    const result = this.#classify(operation, request, dialect, answer, requestId);
    const isKept = result.kind === "data" && answer.kind === "answer" && answer.body.length <= SMALL_BYTES;
    return isKept ? { ...result, answer } : result;
  }

  /** Returns whether an id contains the key and so must not be printed or stored. Ignores keys under 8 characters, which may occur by chance. */
  #hasKeyIn(requestId: string): boolean {
    const { apiKey } = this.#options;
    return apiKey.length >= 8 && requestId.includes(apiKey);
  }

  /** Hides the key in the texts of an error, which may quote the request. Returns the error. */
  removeKey<E extends ResearchError>(error: E): E {
    const { message, code, hint } = error;
    return Object.assign(error, {
      message: this.#hide(message),
      code: this.#hide(code),
      hint: hint && this.#hide(hint),
    });
  }

  /** Passes an event to the observer. */
  emit(event: ClientEvent): void {
    this.#options.onEvent?.(event);
  }

  /** Closes every connection at once. */
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
    const target = `${at.method} ${this.#buildUrl(at)}`;
    const peer =
      new URL(this.origin).host + (this.#proxy ? ` through the proxy ${this.#proxy.url.origin}` : "");
    const addressHint = suggestProvider(this.origin, dialect.name);
    const context = { dialect, operation, requestId, target, peer, addressHint, now: this.clock.now() };
    const result = classifyResponse(answer, context);
    if (result.kind === "data") return result;
    const { error } = result;
    const providerOrigin = findProvider(dialect.name)?.baseUrl ?? this.origin;
    // If another service uses a provider's dialect, a 404 may mean a wrong path instead of an unknown model.
    const isMissing = error instanceof RefusedError && error.enveloped && error.httpStatus === 404;
    if (operation === "create" && isMissing && providerOrigin !== this.origin)
      Object.assign(error, { message: `${error.message} (requested ${target}; check the base URL)` });
    if (addressHint && !(error instanceof UnreachableError && error.unsent))
      Object.assign(error, { hint: addressHint });
    this.removeKey(error);
    return result;
  }

  #buildUrl(at: DialectRequest): string {
    return this.origin + at.path;
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
      path: at.path,
      headers: this.#buildHeaders(at, dialect),
      body: at.body,
    };
    const exchangeLimits = {
      timeout: this.#timeout,
      total: limits.total === undefined ? undefined : Math.min(limits.total, MAX_TIMER_MS),
      perPiece: operation === "output" || (operation === "status" && dialect.statusIsResult),
      maxBytes: getMaxResponseBytes(operation, dialect),
      signal: limits.signal,
      grace: limits.grace ?? 0,
    };
    const start = this.clock.monotonic();
    const send = (dispatcher: Dispatcher) =>
      sendRequest(dispatcher, this.#connections.routeRequest(request), exchangeLimits);
    const answer = convertProxy407ToFailure(
      operation === "create"
        ? await this.#connections.useFresh(send)
        : await send(await this.#connections.getShared()),
      this.#proxy,
    );
    const describeFailure = (fault: RequestFailure) => this.#hide(`${fault.fault}: ${fault.message}`);
    const outcome = answer.kind === "answer" ? `HTTP ${answer.status}` : describeFailure(answer);
    const elapsedMs = this.clock.monotonic() - start;
    const date = getHeader(answer.headers, "date");
    this.emit({ kind: "exchange", method: at.method, url: this.#buildUrl(at), outcome, elapsedMs, date });
    return answer;
  }

  #buildHeaders(at: DialectRequest, { keyHeader: [name, prefix] }: Dialect): Record<string, string> {
    return {
      [name]: prefix + this.#options.apiKey,
      accept: "application/json",
      "user-agent": this.#options.userAgent ?? "research-cli",
      ...(at.json && { "content-type": "application/json" }),
      ...at.headers,
    };
  }
}

/** Returns the proxy for `url`. Throws ResearchError `USAGE` if the setting is invalid. */
function chooseUsableProxy(url: URL, env: ProxyEnvironment): ProxyAddress | undefined {
  try {
    return chooseProxy(url, env);
  } catch (error) {
    if (error instanceof ProxyError) throw new ResearchError("USAGE", error.message, { hint: error.hint });
    throw error;
  }
}

/** Throws TypeError unless `value` is a string, because a caller in JavaScript may pass an unset variable, which would be sent as "undefined". */
function requireString(option: string, value: unknown): void {
  if (typeof value !== "string") throw new TypeError(`${option} must be a string, but it is ${typeof value}`);
}

/** Throws ResearchError `NOT_AUTHENTICATED` unless the key is visible ASCII, which a header requires (§5). */
export function requireSendableKey(key: string): void {
  if (isSendableKey(key)) return;
  throw new ResearchError(
    "NOT_AUTHENTICATED",
    "the API key is empty or contains an invalid character (a space, a line break, a letter beyond ASCII)",
  );
}

/** Maximum size of an answer to keep for comparison with the next one, in bytes. */
const SMALL_BYTES = 4_096;

function isSameAnswer(last: HttpAnswer, answer: HttpAnswer | RequestFailure): boolean {
  return answer.kind === "answer" && answer.status === last.status && answer.body.equals(last.body);
}

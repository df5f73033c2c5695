import type { Dispatcher } from "undici";
import { type Clock, systemClock } from "../../ground/clock.js";
import {
  type ProxyAddress,
  type ProxyEnvironment,
  ProxyError,
  parseBaseUrl,
  proxyFor,
} from "../../ground/http/address.js";
import { Connections } from "../../ground/http/connections.js";
import {
  exchange,
  type HttpAnswer,
  headerOf,
  loginRequired,
  type RequestFailure,
  readRetryAfter,
} from "../../ground/http/exchange.js";
import { nestingDepth, parseExact } from "../../ground/json/exact-json.js";
import {
  type CreateBody,
  type Data,
  isRequestId,
  type Operation,
} from "../../ground/protocol/conversation.js";
import { isKeyText, keyHider } from "../../ground/secrets/key.js";
import {
  type Dialect,
  type DialectRequest,
  InputError,
  type RefusalKind,
  type ServiceError,
} from "../dialects/dialect.js";
import { providerMeant } from "../dialects/providers.js";
import { UNPAID } from "../dialects/reading.js";
import { research } from "../dialects/research.js";
import {
  CODE_OF_REFUSAL,
  type ErrorFacts,
  OutcomeUnknownError,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "./errors.js";
import { AMBIGUOUS_STATUSES, FAULTS, type FaultName, MISDIRECTED_STATUS } from "./failure-policy.js";
import type { ClientEvent, ClientOptions } from "./options.js";

export interface CallLimits {
  signal?: AbortSignal | undefined;
  /** Milliseconds between the signal and the end of the exchange; default 0. */
  grace?: number;
  /** Milliseconds for the whole exchange: what is left of a command's own time. */
  total?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** By the clock that they are of, then by origin and key. */
const PACES = new WeakMap<Clock, Map<string, Pace>>();

/** One service, one key: turns an operation into one exchange and classifies its answer. Repeats nothing. */
export class Session {
  readonly origin: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly #prefix: string;
  readonly #options: ClientOptions;
  #dialect: Dialect | (() => Promise<Dialect>);
  readonly #timeout: number;
  readonly #hide: (text: string) => string;
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
    this.#hide = keyHider(options.apiKey);
    this.#dialect = options.dialect ?? research(options.gaps);
    this.#timeout = Math.min(options.requestTimeout ?? DEFAULT_TIMEOUT_MS, MAX_TIMER_MS);
    this.#proxy = proxyIn(base, options.proxyEnvironment ?? process.env);
    this.#connections = new Connections(base, this.#proxy, this.#timeout);
  }

  /** How the service is spoken to. */
  async dialect(): Promise<Dialect> {
    if (typeof this.#dialect === "function") this.#dialect = await this.#dialect();
    return this.#dialect;
  }

  /** When polls may start: one for all sessions of this process with the same key at the same origin. */
  async pace(): Promise<Pace> {
    const { betweenPollsMs, pacesAll } = await this.dialect();
    const paces = PACES.get(this.clock) ?? new Map<string, Pace>();
    PACES.set(this.clock, paces);
    const account = `${this.origin} ${this.#options.apiKey}`;
    const pace = paces.get(account) ?? new Pace(betweenPollsMs, pacesAll);
    paces.set(account, pace);
    return pace;
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
    const isGood = isRequestId(requestId) && !this.#quotesKey(requestId);
    return { requestId: isGood ? requestId : undefined, result };
  }

  /**
   * §4.2 to §4.4. Refused unsent where the service cannot do it. `last`: what the same call said before. Throws
   * ResearchError `USAGE` for an invalid id.
   */
  async call(
    operation: Exclude<Operation, "create">,
    requestId: string,
    limits: CallLimits,
    last?: Success,
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
    // Most polls say what the one before said, and to read that anew is a sixth of what a poll costs.
    if (last?.answer && isSame(last.answer, answer))
      return { ...last, waitMs: waitAsked(answer, this.clock.now()) };
    const result = this.#classify(operation, request, dialect, answer, requestId);
    const isKept = result.kind === "data" && answer.kind === "answer" && answer.body.length <= SMALL_BYTES;
    return isKept ? { ...result, answer } : result;
  }

  /** Whether an id contains the key. Such an id is refused, since ids are printed and kept; a short key may be in one by accident. */
  #quotesKey(requestId: string): boolean {
    const { apiKey } = this.#options;
    return apiKey.length >= 8 && requestId.includes(apiKey);
  }

  /** Hides the key in the sentences of an error, which may quote the request. Returns the error. */
  withoutKey<E extends ResearchError>(error: E): E {
    const { message, code, hint } = error;
    return Object.assign(error, {
      message: this.#hide(message),
      code: this.#hide(code),
      hint: hint && this.#hide(hint),
    });
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
    const peer =
      new URL(this.origin).host + (this.#proxy ? ` through the proxy ${this.#proxy.url.origin}` : "");
    const asked = { dialect, operation, requestId, target, peer, now: this.clock.now() };
    const result = classifyResponse(answer, asked);
    if (result.kind === "data") return result;
    const hint = providerMeant(this.origin, dialect.name);
    if (hint) Object.assign(result.error, { hint });
    this.withoutKey(result.error);
    return result;
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
      timeout: this.#timeout,
      total: limits.total === undefined ? undefined : Math.min(limits.total, MAX_TIMER_MS),
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
    const failed = (fault: RequestFailure) => this.#hide(`${fault.fault}: ${fault.message}`);
    const outcome = answer.kind === "answer" ? `HTTP ${answer.status}` : failed(answer);
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

/** The proxy for `url`. Throws ResearchError `USAGE` for an invalid one. */
function proxyIn(url: URL, env: ProxyEnvironment): ProxyAddress | undefined {
  try {
    return proxyFor(url, env);
  } catch (error) {
    if (error instanceof ProxyError) throw new ResearchError("USAGE", error.message, { hint: error.hint });
    throw error;
  }
}

/** For callers without types, and with an environment variable that is not set: it would be sent as "undefined". */
function requireText(option: string, value: unknown): void {
  if (typeof value !== "string") throw new TypeError(`${option} must be a string, and it is ${typeof value}`);
}

/**
 * When the polls of all watches of one client may start: `betweenMs` apart, or several at once as long as no second
 * has more of them for it. All times are monotonic milliseconds.
 */
export class Pace {
  /** When the newest polls start, as many as a second may have. */
  readonly #starts: number[] = [];

  /** `betweenMs`: 0 for polls that nothing limits; `isStrict`: no two start together, and other requests wait as well. */
  constructor(
    readonly betweenMs: number,
    readonly isStrict = false,
  ) {}

  /** When the next poll may start. */
  get nextStart(): number {
    const last = this.#starts.at(-1) ?? Number.NEGATIVE_INFINITY;
    return Math.max(last + this.betweenMs, this.#roomAt());
  }

  /** Whether one more may start together with one that starts at `now`. */
  mayJoin(now: number): boolean {
    return !this.isStrict && this.#starts.at(-1) === now && this.#roomAt() + LATE_MS <= now;
  }

  /** Notes that a poll starts at `at`, which is no earlier than the one before. */
  started(at: number): void {
    if (this.betweenMs === 0) return;
    this.#starts.push(at);
    if (this.#starts.length > SECOND / this.betweenMs) this.#starts.shift();
  }

  /** When the oldest of a full second is over. */
  #roomAt(): number {
    const isFull = this.#starts.length >= SECOND / this.betweenMs;
    return isFull ? (this.#starts[0] ?? 0) + SECOND : Number.NEGATIVE_INFINITY;
  }
}

const SECOND = 1_000;
/** The last of several polls that start at once may arrive so much later, and the service counts what arrives. */
const LATE_MS = 100;

/** A success. Its data remembers the text it was read from, see `exactJson`. */
export interface Success {
  kind: "data";
  data: Data;
  /** How long the service asked to wait before the next poll, in milliseconds; 0 if it did not. */
  waitMs: number;
  /** The small answer that it was read from: the same one, byte for byte, is not read again. */
  answer?: HttpAnswer;
}

/** Larger answers, in bytes, are not kept to be compared with the next one. */
const SMALL_BYTES = 4_096;

function isSame(last: HttpAnswer, answer: HttpAnswer | RequestFailure): boolean {
  return answer.kind === "answer" && answer.status === last.status && answer.body.equals(last.body);
}

/** What an exchange means. */
export type Classification =
  | Success
  /** Conclusive: the service said no. */
  | { kind: "refused"; error: RefusedError }
  /** Inconclusive: `FAULTS[fault]` says what follows. */
  | { kind: "fault"; fault: FaultName; sent: boolean; error: ResearchError };

/** Any classification but a success. */
export type Unsuccessful = Exclude<Classification, Success>;

export interface Asked {
  dialect: Dialect;
  operation: Operation;
  /** The id in the path; undefined for create. */
  requestId?: string | undefined;
  /** `METHOD URL`, for messages. */
  target: string;
  /** What connections are made to, in words. */
  peer: string;
  /** Epoch ms, to read a `Retry-After` date against. */
  now: number;
}

/** Reads an answer by §7, by its dialect, and by what an intermediary may have put in its place. Pure. */
export function classifyResponse(answer: HttpAnswer | RequestFailure, asked: Asked): Classification {
  const { dialect, operation } = asked;
  const facts: ErrorFacts = {
    requestId: asked.requestId,
    retryAfter: readRetryAfter(answer.headers, asked.now),
  };
  if (answer.kind === "failure") return faulty(answer.fault, answer.sent, answer.message, asked, facts);
  const known: ErrorFacts = { ...facts, httpStatus: answer.status };
  const body = parseBody(answer, maxBytes(operation, dialect));
  if (body.kind === "oversized")
    return faulty("oversized", true, "the answer is too large or too deeply nested", asked, known);
  const value = body.kind === "json" ? body.value : undefined;
  const said = dialect.fault(operation, answer.status, value, facts.retryAfter);
  // The later of two times: to ask too early costs one more of the limit.
  known.retryAfter = laterOf(facts.retryAfter, said?.retryAfter);
  if (answer.status >= 300) return classifyError(answer, said, asked, known);
  if (said) return refusal(said.kind ?? "refused", said, asked, known);
  const data = dialect.data(operation, value);
  if (typeof data === "string") return faulty("unreadable", true, data, asked, known);
  const about = data.request_id;
  if (asked.requestId !== undefined && about !== undefined && about !== asked.requestId) {
    return faulty("wrong-request", true, "the answer is about another request", asked, known);
  }
  return { kind: "data", data, waitMs: waitAsked(answer, asked.now) };
}

/** Milliseconds for which an answer asks to wait before the next poll; 0 if it does not, or makes no sense. */
function waitAsked({ headers }: Pick<HttpAnswer, "headers">, now: number): number {
  const retryAfter = readRetryAfter(headers, now) ?? 0;
  const pollAfterMs = headerOf(headers, "openai-poll-after-ms") ?? "";
  return Math.max(retryAfter * 1_000, /^\d{1,9}$/.test(pollAfterMs) ? Number(pollAfterMs) : 0);
}

function laterOf(one: number | undefined, other: number | undefined): number | undefined {
  return one !== undefined && other !== undefined ? Math.max(one, other) : (one ?? other);
}

/** Anything from 300 up. */
function classifyError(
  answer: HttpAnswer,
  said: ServiceError | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const { status, headers } = answer;
  const { operation } = asked;
  const fault = (name: FaultName, why: string, more: ErrorFacts = {}) =>
    faulty(name, true, why, asked, { ...facts, ...more }, said);
  if (status >= 500) return fault("unavailable", `the service is not available (HTTP ${status})`);
  if (status < 400) {
    const location = headerOf(headers, "location");
    const to = location ? ` to ${location}` : "";
    const name = status === 303 ? "see-other" : "redirected";
    return fault(name, `a redirect${to} was not followed (HTTP ${status})`);
  }
  if (status === 405 && (operation === "status" || operation === "output")) {
    const hint = `If the service wants another method, \`research config set ${operation}-method POST\` sets it.`;
    return fault("wrong-method", "the service does not take this method (HTTP 405)", { hint });
  }
  // A service may use 408 for a result that is not there yet; to all else these say too little.
  const isAboutResult = operation === "output" && said?.kind !== undefined;
  if ((AMBIGUOUS_STATUSES.has(status) && !isAboutResult) || (status === MISDIRECTED_STATUS && !said))
    return fault("ambiguous", `the service gave no result (HTTP ${status})`);
  // The interface document does not have 402, 432 and 433. At a provider they mean that no money is left.
  const isUnpaid = UNPAID.has(status) && asked.dialect.name !== "research";
  const kind = said?.kind ?? (isUnpaid ? "no-credit" : KIND_OF_STATUS[status]) ?? (said && "refused");
  if (kind) return refusal(kind, said, asked, facts);
  return fault("stray", `HTTP ${status} without a word from the service itself`);
}

function refusal(
  kind: RefusalKind,
  said: ServiceError | undefined,
  asked: Asked,
  facts: ErrorFacts,
): Classification {
  const isNoService = !said && kind === "not-found";
  const hint = isNoService
    ? "Is the base URL right? `research config list` shows where it comes from."
    : undefined;
  const message = said?.message || `HTTP ${facts.httpStatus} for ${asked.target}`;
  // What has no money has one name, whatever word a provider has for it.
  const code = (kind === "no-credit" ? undefined : said?.code) ?? CODE_OF_REFUSAL[kind];
  const error = new RefusedError(kind, said !== undefined, code, message, { ...facts, hint });
  return { kind: "refused", error };
}

function faulty(
  fault: FaultName,
  sent: boolean,
  why: string,
  asked: Asked,
  facts: ErrorFacts,
  said?: ServiceError,
): Classification {
  return { kind: "fault", fault, sent, error: faultError(fault, sent, why, asked, facts, said) };
}

function faultError(
  fault: FaultName,
  sent: boolean,
  why: string,
  { operation, peer, target }: Asked,
  facts: ErrorFacts,
  said: ServiceError | undefined,
): ResearchError {
  if (!sent) {
    const created = operation === "create" ? "Nothing was created. " : "";
    const trust = /certificate/.test(why)
      ? "NODE_EXTRA_CA_CERTS names a file of certificates to trust. "
      : "";
    const hint = `${created}${trust}\`research doctor\` finds the cause.`;
    const message = `${peer} cannot be reached: ${why}`;
    return new UnreachableError("UNREACHABLE", message, { ...facts, hint, unsent: true });
  }
  const message = `${target}: ${why}`;
  if (operation === "create" && FAULTS[fault].create === "unknown")
    return new OutcomeUnknownError(message, facts);
  const code = said?.code ?? (UNANSWERED.has(fault) ? "UNREACHABLE" : "BAD_RESPONSE");
  return new UnreachableError(code, message, facts);
}

const UNANSWERED: ReadonlySet<FaultName> = new Set([
  "unreachable",
  "unconnectable",
  "lost",
  "timeout",
  "unavailable",
]);

/** HTTP statuses that say enough by themselves, from the service or from a proxy. */
const KIND_OF_STATUS: Readonly<Record<number, RefusalKind>> = {
  401: "unauthenticated",
  403: "unauthenticated",
  404: "not-found",
  429: "rate-limited",
  413: "invalid-input",
  414: "invalid-input",
  431: "invalid-input",
};

/** A control answer (create, stop, status) holds a few hundred bytes; this is room for any envelope. */
const CONTROL_BYTES = 1 << 20;
/** The largest output that is read. */
const OUTPUT_BYTES = 64 << 20;

/** The most that is read of an operation's answer, in bytes. */
export function maxBytes(operation: Operation, dialect: Pick<Dialect, "statusIsResult">): number {
  return operation === "output" || dialect.statusIsResult ? OUTPUT_BYTES : CONTROL_BYTES;
}

/** Deeper than any result is; V8's own JSON functions overflow the stack at several thousand. */
const MAX_DEPTH = 1_000;

type Bytes = Pick<HttpAnswer, "headers" | "body">;

/** `value` remembers its text, as `exactJson` needs it. */
export type ParsedBody = { kind: "json"; value: unknown } | { kind: "none" } | { kind: "oversized" };

/** Decodes and parses a body, within `maxBytes` after decompression and `MAX_DEPTH` of nesting. */
export function parseBody(answer: Bytes, maxBytes: number): ParsedBody {
  try {
    const text = decoded(answer, maxBytes)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
    if (text.length > MAX_DEPTH && nestingDepth(text) > MAX_DEPTH) return { kind: "oversized" };
    return { kind: "json", value: parseExact(text) };
  } catch (error) {
    return error instanceof RangeError ? { kind: "oversized" } : { kind: "none" };
  }
}

/** The id in an answer that need not be whole, JSON or a success: it may be the only trace of a request. */
export function salvageRequestId(answer: Bytes, dialect: Pick<Dialect, "salvage">): string | undefined {
  let text: string;
  try {
    text = decoded(answer, CONTROL_BYTES).toString("utf8");
  } catch {
    return undefined;
  }
  return dialect.salvage(text);
}

/** No encoding is ever asked for, so zlib is loaded only where an intermediary used one all the same. */
function decoded({ headers, body }: Bytes, maxOutputLength: number): Buffer {
  const encoding = headerOf(headers, "content-encoding")?.trim().toLowerCase();
  if (!encoding) return body;
  const zlib = process.getBuiltinModule("node:zlib");
  // Z_SYNC_FLUSH reads what there is of a stream that broke off.
  const limit = { maxOutputLength, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.gunzipSync(body, limit);
    case "deflate":
      return zlib.inflateSync(body, limit);
    case "br":
      return zlib.brotliDecompressSync(body, { maxOutputLength });
    default:
      return body;
  }
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../clock.js";
import type { Operation } from "../../protocol/endpoints.js";
import { bearerToken } from "../http/authentication.js";

/** One request with its answer, as the access log and the metrics see it. */
export interface Exchange {
  /** When it came in, epoch ms. */
  at: number;
  method: string;
  /** Without its query. */
  path: string;
  /** Of §4; undefined for other paths. */
  operation?: Operation;
  /** The name of an added key. */
  keyName?: string;
  /** The conversation that was created or asked for. */
  requestId?: string;
  /** Undefined if the connection was closed without an answer. */
  status?: number;
  /** From the request's headers to the end of the answer. */
  durationMs: number;
}

/** Called with each exchange when it is over. */
export type Observer = (exchange: Readonly<Exchange>) => void;

/** Observes requests; those who answer them add what they find out. */
export class ExchangeObservation {
  readonly #open = new WeakMap<IncomingMessage, Exchange>();
  constructor(
    private readonly observers: readonly Observer[],
    private readonly clock: Clock,
  ) {}

  /** Whether anyone is told; if not, nothing need be added. */
  get isOn(): boolean {
    return this.observers.length > 0;
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isOn) return;
    const begun = this.clock.monotonic();
    const path = withoutToken((request.url ?? "").replace(/[?#].*$/s, ""), request);
    const exchange: Exchange = { at: this.clock.now(), method: request.method ?? "", path, durationMs: 0 };
    this.#open.set(request, exchange);
    response.once("close", () => {
      exchange.durationMs = this.clock.monotonic() - begun;
      if (response.headersSent) exchange.status = response.statusCode;
      for (const observer of this.observers) observer(exchange);
    });
  }

  add(request: IncomingMessage, facts: Partial<Exchange>): void {
    const exchange = this.#open.get(request);
    if (exchange !== undefined) Object.assign(exchange, facts);
  }
}

/** A client may have put its key into the path too. */
function withoutToken(path: string, request: IncomingMessage): string {
  const token = bearerToken(request);
  if (token === undefined) return path;
  return path.replaceAll(token, "[key]").replaceAll(encodeURIComponent(token), "[key]");
}

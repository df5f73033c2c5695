import type { Clock } from "../../core/clock.js";
import type { ProxyEnvironment } from "../../core/http/address.js";
import type { Gaps, Operation } from "../../core/protocol/conversation.js";
import type { Dialect } from "../dialects/dialect.js";
import type { ResearchError } from "./errors.js";

/** Apart from what uses it: the types of the library lead here, and from the session they would lead to undici's. */
export interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  /** How the service is spoken to, or what loads that when it is first needed; default: the interface itself. */
  dialect?: Dialect | (() => Promise<Dialect>) | undefined;
  /** What the interface does not show. */
  gaps?: Partial<Gaps>;
  /** Milliseconds for one exchange; default 30,000. */
  requestTimeout?: number;
  /** Allow plain http to another machine. */
  insecureHttp?: boolean;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read; default: `process.env`. `{}` for no proxy. */
  proxyEnvironment?: ProxyEnvironment;
  userAgent?: string;
  clock?: Clock;
  /** In [0, 1); for jitter. */
  random?: () => number;
  /** Called after each exchange, and before each wait for a repetition. */
  onEvent?: (event: ClientEvent) => void;
}

export type ClientEvent =
  | {
      kind: "exchange";
      method: string;
      url: string;
      outcome: string;
      elapsedMs: number;
      /** The `Date` header of the answer, if there is one. */
      date: string | undefined;
    }
  | {
      kind: "retry";
      operation: Operation;
      requestId: string | undefined;
      waitMs: number;
      error: ResearchError;
    };

import type { Clock } from "../../core/clock.js";
import type { ProxyEnvironment } from "../../core/http/base-url-and-proxy.js";
import type { Gaps, Operation } from "../../core/protocol/conversation.js";
import type { Dialect } from "../dialects/dialect.js";
import type { ResearchError } from "./errors.js";

/** The options of a client. They have their own file so that the library's public types do not depend on undici's. */
export interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  /** The dialect of the service, or a function that loads it on first use; default: the interface itself. */
  dialect?: Dialect | (() => Promise<Dialect>) | undefined;
  /** Settings for what the interface does not document. */
  gaps?: Partial<Gaps>;
  /** Timeout of one exchange in milliseconds; default 30,000. */
  requestTimeout?: number;
  /** Whether to allow plain http to another machine. */
  insecureHttp?: boolean;
  /** The environment with `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; default: `process.env`. `{}` means no proxy. */
  proxyEnvironment?: ProxyEnvironment;
  userAgent?: string;
  clock?: Clock;
  /** Returns a number in [0, 1), for jitter. */
  random?: () => number;
  /** Called after each exchange, and before each wait for a retry. */
  onEvent?: (event: ClientEvent) => void;
}

export type ClientEvent =
  | {
      kind: "exchange";
      method: string;
      url: string;
      outcome: string;
      elapsedMs: number;
      /** The `Date` header of the answer; undefined if it has none. */
      date: string | undefined;
    }
  | {
      kind: "retry";
      operation: Operation;
      requestId: string | undefined;
      waitMs: number;
      error: ResearchError;
    };

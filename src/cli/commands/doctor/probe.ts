import type { Classification } from "../../../client/classify-response.js";
import { Session } from "../../../client/session.js";
import type { Context } from "../../context.js";
import { NO_REQUEST } from "../../requests/key-answer.js";
import { requireBaseUrl } from "../../settings.js";
import type { Inspected } from "./inspected.js";

/** What the service answered to the question that `login` asks. */
export interface Answered {
  result: Classification;
  /** The `Date` header of the answer, epoch milliseconds; undefined without one. */
  date: number | undefined;
}

/** Asks the service once, whichever checks want to know, and repeats nothing. */
export class Probe {
  readonly #ctx: Context;
  readonly #inspected: Inspected;
  #session: Session | undefined;
  #answered: Promise<Answered> | undefined;

  constructor(ctx: Context, inspected: Inspected) {
    this.#ctx = ctx;
    this.#inspected = inspected;
  }

  answered(): Promise<Answered> {
    this.#answered ??= this.#ask();
    return this.#answered;
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }

  async #ask(): Promise<Answered> {
    const { host, flags, signal } = this.#ctx;
    let date: number | undefined;
    host.beforeRequests?.();
    this.#session = new Session({
      baseUrl: requireBaseUrl(this.#inspected.settings).href,
      apiKey: this.#key(),
      insecureHttp: true,
      proxyEnvironment: host.env,
      clock: host.clock,
      userAgent: `research-cli/${host.version}`,
      gaps: { statusMethod: this.#inspected.settings.gaps.statusMethod.value },
      ...(flags.requestTimeout !== undefined && { requestTimeout: flags.requestTimeout }),
      onEvent: (event) => {
        if (event.kind === "exchange") date = Date.parse(event.date ?? "") || undefined;
      },
    });
    const result = await this.#session.call("status", NO_REQUEST, { signal });
    signal.throwIfAborted();
    return { result, date };
  }

  /** Without a usable key the connection is tried all the same; the check of the key says what is wrong with it. */
  #key(): string {
    try {
      const { apiKey } = this.#inspected.settingsWithKey;
      const origin = requireBaseUrl(this.#inspected.settings).origin;
      const isOwn = apiKey?.boundTo === undefined || apiKey.boundTo === origin;
      return apiKey && isOwn && /^[\x21-\x7e]+$/.test(apiKey.value) ? apiKey.value : "none";
    } catch {
      return "none";
    }
  }
}

import type { Classification } from "../../../client/classify-response.js";
import { Session } from "../../../client/session.js";
import type { Machine } from "../../../machine/machine.js";
import { requireBaseUrl, requireConnection } from "../../../machine/settings.js";
import { isKeyText } from "../../../protocol/key-pattern.js";
import type { Context } from "../../context.js";

/** What the service answered to the question that `login` asks. */
export interface Answered {
  result: Classification;
  /** The `Date` header of the answer, epoch milliseconds; undefined without one. */
  date: number | undefined;
}

/** Asks the service once, whichever checks want to know, and repeats nothing. */
export class Probe {
  readonly #ctx: Context;
  readonly #machine: Machine;
  #session: Session | undefined;
  #answered: Promise<Answered> | undefined;

  constructor(ctx: Context, machine: Machine) {
    this.#ctx = ctx;
    this.#machine = machine;
  }

  answered(): Promise<Answered> {
    this.#answered ??= this.#ask();
    return this.#answered;
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }

  async #ask(): Promise<Answered> {
    const { host, signal } = this.#ctx;
    const { settings, clientOptions, dialect } = this.#machine;
    let date: number | undefined;
    host.beforeRequests?.();
    this.#session = new Session({
      ...clientOptions,
      ...{ baseUrl: requireBaseUrl(settings).href, apiKey: this.#key(), dialect },
      insecureHttp: true,
      onEvent: (event) => {
        if (event.kind === "exchange") date = Date.parse(event.date ?? "") || undefined;
      },
    });
    const result = await this.#session.call("status", (await this.#session.dialect()).probeId, { signal });
    signal.throwIfAborted();
    return { result, date };
  }

  /** Without a usable key the connection is tried all the same; the check of the key says what is wrong with it. */
  #key(): string {
    try {
      const { apiKey } = requireConnection(this.#machine.settings);
      return isKeyText(apiKey) ? apiKey : "none";
    } catch {
      return "none";
    }
  }
}

import type { AskOptions } from "../machine/asked.js";
import type { LimitOptions, Machine } from "../machine/machine.js";
import { requireConnection } from "../machine/settings.js";
import type { CreateBody } from "../protocol/conversation.js";
import type { History } from "../store/history/history.js";
import { CreateOnce } from "../workflows/create-once.js";
import type { Ports } from "../workflows/ports.js";

export interface ToolSessionOptions extends LimitOptions {
  /** How many creates may be sent; absent for no limit. */
  maxCreates?: number;
  /** An absolute path. */
  allowedFolder?: string | undefined;
}

/** What the tools work with, for as long as the server lives. */
export class ToolSession {
  readonly creates: CreateOnce;
  /** The folder that results may be written to, if there is one. */
  readonly allowedFolder: string | undefined;
  /** The paths that will be written when their requests have ended, each with its request. */
  readonly awaited = new Map<string, string>();
  readonly #options: ToolSessionOptions;
  readonly #machine: Machine;
  readonly #ending = new AbortController();
  #configured: Machine | undefined;

  constructor(machine: Machine, options: ToolSessionOptions) {
    this.creates = new CreateOnce(options.maxCreates);
    this.allowedFolder = options.allowedFolder;
    this.#machine = machine;
    this.#options = options;
  }

  /** The settings in force. Throws the error that says what is missing. */
  ports(): Ports {
    return this.#whole().ports;
  }

  /** What this machine created; undefined if nothing is recorded. Needs no base URL and no key. */
  history(): History | undefined {
    return this.#current().history;
  }

  /** Creates per hour by flag or setting; undefined if it is not known. */
  limit(): number | undefined {
    return this.#whole().hourlyLimit(this.#options);
  }

  /** A create with what the settings and the call say. Throws UsageError. */
  asked(body: CreateBody, options: AskOptions): CreateBody {
    return this.#whole().asked(body, options);
  }

  /** Aborted when the server ends. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends what is under way; a create that is gets the time to learn its id (the client's grace). */
  async close(reason: unknown): Promise<void> {
    this.#ending.abort(reason);
    await this.creates.settled();
    await this.#configured?.close();
  }

  /** With a base URL and a key: the settings are read again for each call until those are there, by a `research login` meanwhile. */
  #whole(): Machine {
    const machine = this.#current();
    requireConnection(machine.settings);
    this.#configured = machine;
    return machine;
  }

  #current(): Machine {
    return this.#configured ?? this.#machine.reopened();
  }
}

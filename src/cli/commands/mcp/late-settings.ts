import type { Context } from "../../context.js";
import { requireConnection } from "../../settings.js";

/** The settings of a process that may live longer than it takes a person to make them: `research login` meanwhile. */
export class LateSettings {
  readonly #first: Context;
  #configured: Context | undefined;

  constructor(first: Context) {
    this.#first = first;
  }

  /** A context with a base URL and a key. They are read again for each call until they are there. Throws CliError. */
  get configured(): Context {
    if (this.#configured) return this.#configured;
    const { current } = this;
    requireConnection(current.settings);
    this.#configured = current;
    return current;
  }

  /** The context of the settings as they are now, whatever is missing. */
  get current(): Context {
    return this.#configured ?? this.#first.with(this.#first.host.env, this.#first.flags);
  }

  async close(): Promise<void> {
    await this.#configured?.close();
  }
}

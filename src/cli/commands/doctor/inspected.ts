import { History } from "../../../store/history/history.js";
import { Settings } from "../../../store/settings.js";
import type { Context } from "../../context.js";
import { type ResolvedSettings, resolveSettings } from "../../settings.js";

/** Settings and history as they are: nothing is repaired or created by looking. Each member is read on first use. */
export class Inspected {
  readonly #ctx: Context;
  #settings: ResolvedSettings | undefined;
  #history: History | undefined;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  get settingsPath(): string | undefined {
    return this.#store.path;
  }

  get stateFolder(): string | undefined {
    return this.#ctx.folders.state;
  }

  /** The settings, but for a key that stands in a file. Throws what a command would throw. */
  get settings(): ResolvedSettings {
    const { flags, host } = this.#ctx;
    this.#settings ??= resolveSettings(
      flags,
      { ...host.env, RESEARCH_API_KEY_FILE: undefined },
      this.#store.read(),
    );
    return this.#settings;
  }

  /** The same with the key, wherever it stands. Throws LocalError for a key file that cannot be read. */
  get settingsWithKey(): ResolvedSettings {
    const { flags, host, readKey } = this.#ctx;
    return resolveSettings(flags, host.env, this.#store.read(), readKey);
  }

  get history(): History | undefined {
    const { stateFolder } = this;
    if (this.settings.history.value === "off" || stateFolder === undefined) return undefined;
    this.#history ??= new History(stateFolder, () => this.#ctx.host.clock.now());
    return this.#history;
  }

  get #store(): Settings {
    return new Settings(this.#ctx.folders.config, undefined);
  }
}

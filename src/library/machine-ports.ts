import type { ReadKey } from "../cli/input/key-file.js";
import { portsOf } from "../cli/ports.js";
import { type ResolvedSettings, requireConnection, resolveSettings } from "../cli/settings.js";
import { ResearchClient } from "../client/client.js";
import { systemClock } from "../clock.js";
import { folders } from "../store/folders.js";
import { History } from "../store/history/history.js";
import { Settings } from "../store/settings.js";
import type { Ports } from "../workflows/ports.js";
import type { OpenOptions } from "./types.js";

/** What the workflows work with, from this machine's settings. Everything is made on first use. */
export class MachinePorts {
  readonly #options: OpenOptions;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #readKey: ReadKey;
  #settings: ResolvedSettings | undefined;
  #client: ResearchClient | undefined;
  #history: History | undefined;
  readonly ports: Ports;
  readonly host = { clock: systemClock };

  constructor(options: OpenOptions, readKey: ReadKey) {
    this.#options = options;
    this.#readKey = readKey;
    this.#env = options.env ?? process.env;
    this.ports = portsOf(this);
  }

  /** Throws UsageError or LocalError. */
  get settings(): ResolvedSettings {
    const { profile, baseUrl, insecureHttp } = this.#options;
    const flags = {
      ...(profile !== undefined && { profile }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(insecureHttp !== undefined && { insecureHttp }),
    };
    const store = new Settings(this.#folders.config, (text) => process.emitWarning(text));
    this.#settings ??= resolveSettings(flags, this.#env, store.read(), this.#readKey);
    return this.#settings;
  }

  get history(): History | undefined {
    const folder = this.#folders.state;
    if (this.settings.history.value === "off" || !folder) return undefined;
    this.#history ??= new History(folder, () => systemClock.now());
    return this.#history;
  }

  /** Throws CliError if the base URL or the key is missing. */
  get client(): ResearchClient {
    if (this.#client) return this.#client;
    const { settings } = this;
    const { baseUrl, apiKey } = requireConnection(settings);
    const { statusMethod, outputMethod, outputPath, outputField } = settings.gaps;
    const { requestTimeout } = this.#options;
    this.#client = new ResearchClient({
      baseUrl,
      apiKey,
      gaps: {
        statusMethod: statusMethod.value,
        outputMethod: outputMethod.value,
        outputPath: outputPath.value,
        outputField: outputField.value,
      },
      insecureHttp: settings.insecureHttp.value,
      ...(requestTimeout !== undefined && { requestTimeout }),
      proxyEnvironment: this.#env,
    });
    return this.#client;
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  get #folders() {
    return folders({ env: this.#env, platform: process.platform });
  }
}

import { ResearchClient } from "../client/client.js";
import type { ClientOptions } from "../client/options.js";
import type { Clock } from "../clock.js";
import type { Dialect } from "../dialects/dialect.js";
import { INTERFACE, type Provider, providerNamed } from "../dialects/providers.js";
import { research } from "../dialects/research.js";
import type { CreateBody } from "../protocol/conversation.js";
import { TIERS, type Tier } from "../protocol/limits.js";
import { type Environment, type Folders, folders } from "../store/files.js";
import { History } from "../store/history/history.js";
import { Settings } from "../store/settings.js";
import type { Ports } from "../workflows/ports.js";
import { type AskOptions, askedOf, noTiers } from "./asked.js";
import {
  type Choices,
  gapsOf,
  type ReadKey,
  type ResolvedSettings,
  requireBaseUrl,
  requireConnection,
  resolveSettings,
} from "./settings.js";

/** What a machine is made of: the process as it is, and what was chosen for this one. */
export interface MachineOptions {
  env: Environment;
  platform: NodeJS.Platform;
  clock: Clock;
  /** By flags of a command or options of the library. */
  choices: Choices;
  readKey?: ReadKey | undefined;
  /** What a client takes beside the settings. */
  client?: Pick<ClientOptions, "userAgent" | "random" | "onEvent">;
  /** Called with the settings in force before the first client is made. */
  onConnect?: (settings: ResolvedSettings) => void;
  /** Called with a sentence when settings that others could read have been made private. */
  onMadePrivate?: (text: string) => void;
  /** Called when it is closed, if records of the history in `folder` could not be read. */
  onSkipped?: (records: number, folder: string) => Promise<void>;
  /** Whether it is only looked at: no file is changed by that, and a key file is read when its key is asked for. */
  isInspected?: boolean;
}

/** The flags and options that set the creates per hour. */
export interface LimitOptions {
  tier?: Tier;
  /** Creates per hour; it overrides a tier. */
  perHour?: number;
}

/** Settings, history, key and client of this machine, each made on first use. Throws CodedError for what is missing. */
export class Machine implements Ports {
  readonly clock: Clock;
  readonly #options: MachineOptions;
  #folders: Folders | undefined;
  #settings: ResolvedSettings | undefined;
  #history: History | undefined;
  #client: ResearchClient | undefined;
  #origin: string | undefined;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** What the workflows work with. */
  get ports(): Ports {
    return this;
  }

  /** The same machine with its settings read again. */
  reopened(changes: Pick<MachineOptions, "isInspected"> = {}): Machine {
    return new Machine({ ...this.#options, ...changes });
  }

  /** Throws FolderError. */
  get folders(): Folders {
    this.#folders ??= folders(this.#options);
    return this.#folders;
  }

  /** The stored settings. */
  get store(): Settings {
    const { isInspected, onMadePrivate = () => {} } = this.#options;
    return new Settings(this.folders.config, isInspected ? undefined : onMadePrivate);
  }

  /** The settings in force. Throws UsageError or LocalError. */
  get settings(): ResolvedSettings {
    if (!this.#settings) {
      const { choices, env, readKey, isInspected } = this.#options;
      const settings = resolveSettings(choices, env, this.store.read(), readKey);
      if (!isInspected) void settings.apiKey;
      this.#settings = settings;
    }
    return this.#settings;
  }

  /** What this machine created; undefined if the history is switched off, or there is no folder for it. */
  get history(): History | undefined {
    const { state } = this.folders;
    if (this.settings.history.value === "off" || state === undefined) return undefined;
    this.#history ??= new History(state, () => this.#options.clock.now());
    return this.#history;
  }

  /** Speaks to the service in force. Throws CodedError if the base URL or the key is missing. */
  get client(): ResearchClient {
    if (!this.#client) {
      const { settings } = this;
      const { baseUrl, apiKey } = requireConnection(settings);
      this.#options.onConnect?.(settings);
      this.#client = new ResearchClient({
        ...this.clientOptions,
        ...{ baseUrl, apiKey, dialect: this.dialect, insecureHttp: settings.insecureHttp.value },
      });
    }
    return this.#client;
  }

  get origin(): string {
    this.#origin ??= requireBaseUrl(this.settings).origin;
    return this.#origin;
  }

  get apiKey(): string {
    return requireConnection(this.settings).apiKey;
  }

  get profile(): string | null {
    const { source, value } = this.settings.profile;
    return source === "default" ? null : value;
  }

  get unrecorded(): boolean {
    return this.settings.history.value === "off";
  }

  get outputField(): string {
    return this.settings.gaps.outputField.value;
  }

  /** The provider in force; undefined for the interface itself. */
  get provider(): Provider | undefined {
    return providerNamed(this.settings.provider.value);
  }

  /** How the service in force is spoken to: loaded when it is first needed. */
  get dialect(): () => Promise<Dialect> {
    const { provider, settings } = this;
    return async () => (provider ? provider.load(provider.defaultModel) : research(gapsOf(settings)));
  }

  /** A create with the model, options and follow-up that flags and settings give it. Throws UsageError. */
  asked(body: CreateBody, options: AskOptions): CreateBody {
    return askedOf(this.settings, body, options);
  }

  /** How any service is spoken to from here: all but its address, its key and what the interface does not show. */
  get clientOptions(): Omit<ClientOptions, "baseUrl" | "apiKey"> {
    const { choices, client, clock, env } = this.#options;
    const { requestTimeout } = choices;
    return {
      ...client,
      ...(requestTimeout !== undefined && { requestTimeout }),
      proxyEnvironment: env,
      clock,
    };
  }

  /** Creates per hour by flag, option or setting (§8); Infinity for no limit, undefined if none is given. */
  hourlyLimit({ tier, perHour }: LimitOptions): number | undefined {
    if (this.settings.provider.value !== INTERFACE) {
      if (tier) throw noTiers(this.settings.provider.value);
      return perHour;
    }
    const ofTier = tier ?? this.settings.tier?.value;
    return perHour ?? (ofTier && TIERS[ofTier].create);
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const skipped = this.#history?.skipped ?? 0;
    if (skipped > 0) await this.#options.onSkipped?.(skipped, this.folders.state ?? "");
    await this.#client?.close();
  }
}

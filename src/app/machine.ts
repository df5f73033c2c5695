import { ResearchClient } from "../client/calls/client.js";
import { ResearchError } from "../client/calls/errors.js";
import type { ClientOptions } from "../client/calls/options.js";
import type { Dialect } from "../client/dialects/dialect.js";
import {
  findProvider,
  INTERFACE,
  listOwnersOfId,
  PROVIDERS,
  type Provider,
  splitBasePath,
} from "../client/dialects/providers.js";
import { createResearch } from "../client/dialects/research.js";
import { History } from "../client/store/history/history.js";
import {
  type AccountOfEntry,
  getService,
  type HistoryEntry,
  hashKeyId,
  type Seen,
} from "../client/store/history/records.js";
import { Settings } from "../client/store/settings.js";
import type { Ports } from "../client/workflows/ports.js";
import { explainUnasked, isAt } from "../client/workflows/requests.js";
import type { Clock } from "../core/clock.js";
import { chooseFolders, type Folders } from "../core/files/folders.js";
import type { Environment } from "../core/files/local-error.js";
import { isTier, TIERS, type Tier } from "../core/protocol/limits.js";
import { CodedError, UsageError } from "./errors.js";
import {
  type Choices,
  DEFAULT_PROFILE,
  listGaps,
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
  choices: Choices;
  readKey?: ReadKey | undefined;
  /** What a client takes beside the settings. */
  client?: Pick<ClientOptions, "userAgent" | "random" | "onEvent">;
  /** Called with the settings in force before the first client is made. */
  onConnect?: (settings: ResolvedSettings) => void;
  /** Called with a sentence when settings that others could read have been made private. */
  onMadePrivate?: (text: string) => void;
  /** Called with a sentence before the first request of another account than the one in use is asked for there. */
  onOtherAccount?: (text: string) => void;
  /** Called when it is closed, if records of the history in `folder` could not be read. */
  onSkipped?: ((records: number, folder: string) => Promise<void>) | undefined;
  /** Whether it is only looked at: no file is changed by that, and a key file is read when its key is asked for. */
  isInspected?: boolean;
}

export interface LimitOptions {
  tier?: Tier;
  /** Creates per hour; it overrides a tier. */
  perHour?: number;
}

/** Settings, history, key and client of this machine, each made on first use. Throws CodedError for what is missing. */
export class Machine implements Ports {
  readonly clock: Clock;
  #options: MachineOptions;
  #folders: Folders | undefined;
  #settings: ResolvedSettings | undefined;
  #history: History | undefined;
  #client: ResearchClient | undefined;
  #origin: string | undefined;
  #keyId: string | undefined;
  /** The profiles of other accounts that were said. */
  readonly #said = new Set<string>();
  readonly #named = new Map<string, Machine>();

  constructor(options: MachineOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** The same machine with its settings read again. */
  reopen(changes: Pick<MachineOptions, "isInspected"> = {}): Machine {
    return new Machine({ ...this.#options, ...changes });
  }

  get folders(): Folders {
    this.#folders ??= chooseFolders(this.#options);
    return this.#folders;
  }

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

  get basePath(): string {
    return splitBasePath(requireBaseUrl(this.settings), this.settings.provider.value).basePath;
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

  get perDay(): ResolvedSettings["perDay"] {
    return this.settings.perDay;
  }

  /** Takes the limit of a flag for this account, and for those that are named here. */
  limitDay({ perDay }: { perDay?: number }): void {
    if (perDay === undefined) return;
    this.#options = { ...this.#options, choices: { ...this.#options.choices, perDay } };
    this.#settings = undefined;
  }

  get outputField(): string {
    return this.settings.gaps.outputField.value;
  }

  /** The provider in force; undefined for the interface itself. */
  get provider(): Provider | undefined {
    return findProvider(this.settings.provider.value);
  }

  isHere(entry: Pick<HistoryEntry, "origin" | "base_path">): boolean {
    const { baseUrl, provider } = this.settings;
    if (!baseUrl || !URL.canParse(baseUrl.value)) return true;
    const url = new URL(baseUrl.value);
    return isAt(entry, { origin: url.origin, ...splitBasePath(url, provider.value) });
  }

  /** Whether it was asked of this account, also where another one took it. */
  isOwn(entry: HistoryEntry): boolean {
    return this.#hasMade(entry) || (entry.asked_of !== undefined && this.#hasMade(entry.asked_of));
  }

  /** By its key; by its profile where the key is a stored one, which may have been replaced. */
  #hasMade(entry: AccountOfEntry): boolean {
    const { baseUrl, apiKey } = this.settings;
    if (!baseUrl || !apiKey) return this.isHere(entry);
    if (!this.isHere(entry)) return false;
    if (apiKey.boundTo !== undefined && entry.profile === this.profile) return true;
    this.#keyId ??= hashKeyId(apiKey.value);
    return entry.key_id === this.#keyId;
  }

  /** Contract §3: the profile recorded with it, unless flags or variables say where the command goes. */
  findAccount(entry: HistoryEntry): Machine | undefined {
    const { choices, env, onOtherAccount } = this.#options;
    const { profile, baseUrl, provider } = choices;
    if (profile || baseUrl || provider || env.RESEARCH_PROFILE || env.RESEARCH_BASE_URL) return undefined;
    if (this.settings.baseUrl && this.#hasMade(entry)) return undefined;
    const name = entry.profile ?? DEFAULT_PROFILE;
    const account = this.findAccountNamed(name);
    if (!account?.isHere(entry)) return undefined;
    if (!this.#said.has(name)) onOtherAccount?.(`using profile ${name} at ${entry.origin}, which created it`);
    this.#said.add(name);
    return account;
  }

  chooseAccount(requestId: string, entry: HistoryEntry | undefined): Ports | undefined {
    const account = entry && this.findAccount(entry);
    const refusal = account ? undefined : this.explainRefusal(requestId, entry);
    return refusal ? explainUnasked(this, entry, refusal) : account;
  }

  /**
   * Nothing is sent for a request of the history if no base URL is configured, and none for an id in the form of another
   * provider's. The error names where it was made, and what to do.
   */
  explainRefusal(requestId: string, entry: HistoryEntry | undefined): ResearchError | undefined {
    const { baseUrl, provider } = this.settings;
    if (entry && !baseUrl) {
      const where = `${getService(entry)} with profile ${entry.profile ?? DEFAULT_PROFILE}`;
      const why = `${requestId} was created at ${where}, which no longer leads there with a key`;
      return new ResearchError("NOT_CONFIGURED", why, { requestId, hint: this.describeWay(entry) });
    }
    if (!baseUrl || (entry && this.isHere(entry))) return undefined;
    const owners = listOwnersOfId(requestId, provider.value);
    if (owners.length === 0) return undefined;
    const names = owners.map(({ title }) => title).join(" or ");
    const why = `${requestId} is an id of ${names}, so ${baseUrl.value} was not asked for it`;
    return new ResearchError("NOT_FOUND", why, { requestId, hint: this.describeWay(entry, owners) });
  }

  /** The flag, or the login, for the account that made a request, or for one of the providers that have such ids. */
  describeWay(
    entry: Seen | undefined,
    owners: readonly Provider[] = listOwnersOfId(entry?.request_id ?? "", INTERFACE),
  ): string {
    const isThere = (account: Machine) =>
      entry ? account.isHere(entry) : owners.some(({ name }) => name === account.provider?.name);
    const there = this.accounts.filter((account) => account.profile !== this.profile && isThere(account));
    const account = there.find(({ profile }) => profile === entry?.profile) ?? there[0];
    if (account) return `add --profile ${account.profile}`;
    const provider = PROVIDERS.find(({ baseUrl }) => baseUrl === entry?.origin) ?? owners[0];
    const isOwn = !entry || provider?.baseUrl === entry.origin;
    const site = isOwn ? "" : ` --base-url ${getService(entry)}`;
    return provider ? `\`research login ${provider.name}${site}\` stores an account there` : `add${site}`;
  }

  /** The account of a profile; undefined if there is none, or it has no key for its origin. */
  findAccountNamed(profile: string): Machine | undefined {
    try {
      const account = this.#openAccount(profile, "the history");
      requireConnection(account.settings);
      return account;
    } catch {
      return undefined;
    }
  }

  /** The accounts of all profiles that have a key for their origin. */
  get accounts(): Machine[] {
    return Object.keys(this.store.read().profiles).flatMap((name) => this.findAccountNamed(name) ?? []);
  }

  /** Accounts by their profiles alone (contract §12). `flag` named them. Throws UsageError, and one CodedError for all that lack a key. */
  openNamed(profiles: readonly string[], flag: string): Machine[] {
    if (this.#options.choices.baseUrl !== undefined)
      throw new UsageError(
        `--base-url and ${flag} cannot be used together`,
        "A profile has its own base URL.",
      );
    const accounts = profiles.map((profile) => this.#openAccount(profile, flag));
    const keyless = accounts.flatMap((account) => {
      try {
        requireConnection(account.settings);
        return [];
      } catch (error) {
        if (!(error instanceof CodedError) || error.code !== "NOT_AUTHENTICATED") throw error;
        return [`profile ${account.settings.profile.value} (${error.message})`];
      }
    });
    if (keyless.length === 0) return accounts;
    throw new CodedError("NOT_AUTHENTICATED", `no API key to be used: ${keyless.join("; ")}`, {
      hint: "`research login -p PROFILE` stores a key; a provider's own variable is one at the provider's own address.",
    });
  }

  /** The account of one profile. Throws UsageError. */
  #openAccount(profile: string, flag: string): Machine {
    const opened = this.#named.get(profile);
    if (opened) return opened;
    const { env: all, choices } = this.#options;
    const env = { ...all };
    for (const name of ["API_KEY", "API_KEY_FILE", "BASE_URL", "PROVIDER"]) delete env[`RESEARCH_${name}`];
    const { provider: _, baseUrl: __, ...others } = choices;
    const settings = { ...others, profile, profileFlag: flag };
    const account = new Machine({ ...this.#options, env, choices: settings, onSkipped: undefined });
    void account.settings;
    this.#named.set(profile, account);
    return account;
  }

  /** How the service in force is spoken to: loaded when it is first needed. */
  get dialect(): () => Promise<Dialect> {
    const { provider, settings } = this;
    return async () => (provider ? provider.load(provider.defaultModel) : createResearch(listGaps(settings)));
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

  /** Creates per hour by flag, option or setting (§8); Infinity for no limit, undefined if none is given. Throws UsageError. */
  getHourlyLimit({ tier, perHour }: LimitOptions): number | undefined {
    const isCount = perHour === Number.POSITIVE_INFINITY || Number.isInteger(perHour);
    if (perHour !== undefined && !(isCount && perHour > 0))
      throw new UsageError(`invalid value for per-hour: ${perHour}`, "It takes a whole number, 1 or more.");
    if (tier !== undefined && !isTier(tier))
      throw new UsageError(`unknown tier: ${tier}`, `There are: ${Object.keys(TIERS).join(", ")}.`);
    if (this.settings.provider.value !== INTERFACE) {
      if (tier)
        throw new UsageError(
          `${this.provider?.title} has no tiers`,
          "Leave --tier out. --per-hour N sets a limit of your own.",
        );
      return perHour;
    }
    const ofTier = tier ?? this.settings.tier?.value;
    return perHour ?? (ofTier && TIERS[ofTier].create);
  }

  async close(): Promise<void> {
    const skipped = this.#history?.skipped ?? 0;
    if (skipped > 0) await this.#options.onSkipped?.(skipped, this.folders.state ?? "");
    await this.#client?.close();
    for (const account of this.#named.values()) await account.close();
  }
}

import type { ClientOptions } from "../client/calls/client-options.js";
import { ResearchError } from "../client/calls/errors.js";
import { ResearchClient } from "../client/calls/research-client.js";
import type { Dialect } from "../client/dialects/dialect.js";
import {
  findProvider,
  INTERFACE,
  listProvidersOfId,
  PROVIDERS,
  type Provider,
  splitBasePath,
} from "../client/dialects/providers.js";
import { createInterfaceDialect } from "../client/dialects/research-interface.js";
import { History } from "../client/store/history/history.js";
import {
  type AccountOfEntry,
  getServiceAddress,
  type HistoryEntry,
  hashApiKey,
  type StateSubject,
} from "../client/store/history/history-records.js";
import { SettingsFile } from "../client/store/settings-file.js";
import type { Account } from "../client/workflows/account.js";
import { createUnreachableAccount, isCreatedAtService } from "../client/workflows/find-and-query-requests.js";
import type { Clock } from "../core/clock.js";
import type { Environment } from "../core/files/local-error.js";
import { chooseUserFolders, type UserFolders } from "../core/files/user-folders.js";
import { isTier, TIERS, type Tier } from "../core/protocol/rate-limits.js";
import { formatCount } from "../core/text/format-text.js";
import { CodedError, UsageError } from "./errors.js";
import {
  DEFAULT_PROFILE,
  type ReadKeyFile,
  type ResolvedSettings,
  requireBaseUrl,
  requireConnection,
  resolveSettings,
  type SettingChoices,
} from "./resolve-settings.js";

type AccountNotice = "SETTINGS_MADE_PRIVATE" | "OTHER_ACCOUNT" | "HISTORY_SKIPPED";

/** The environment, clock and platform of the process, and the settings that flags or options choose. */
export interface AccountOptions {
  env: Environment;
  platform: NodeJS.Platform;
  clock: Clock;
  choices: SettingChoices;
  readKey?: ReadKeyFile | undefined;
  /** Options of the client that are not settings. */
  client?: Pick<ClientOptions, "userAgent" | "random" | "onEvent">;
  /** Called with the settings in use before the client is created. */
  onConnect?: (settings: ResolvedSettings) => void;
  /** Called with a sentence about the settings file, the account that is used, or the history. Awaited. */
  onNotice?: ((code: AccountNotice, text: string) => unknown) | undefined;
  /** Whether the caller only inspects the settings: no file is changed, and a key file is read only if its key is needed. */
  isInspected?: boolean;
}

export interface LimitOptions {
  tier?: Tier;
  /** Create calls per hour; takes precedence over a tier. */
  perHour?: number;
}

/** The settings, history, key and client of an account, each opened on first use. Throws CodedError if a setting is missing. */
export class ProfileAccount implements Account {
  readonly clock: Clock;
  #options: AccountOptions;
  #folders: UserFolders | undefined;
  #settings: ResolvedSettings | undefined;
  #history: History | undefined;
  #client: ResearchClient | undefined;
  #origin: string | undefined;
  #keyId: string | undefined;
  /** The profiles for which `onNotice` has already been called. */
  readonly #announcedProfiles = new Set<string>();
  readonly #named = new Map<string, ProfileAccount>();

  constructor(options: AccountOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** Returns a copy of this account that reads the settings again. */
  reopen(changes: Pick<AccountOptions, "isInspected"> = {}): ProfileAccount {
    return new ProfileAccount({ ...this.#options, ...changes });
  }

  get env(): Environment {
    return this.#options.env;
  }

  get folders(): UserFolders {
    this.#folders ??= chooseUserFolders(this.#options);
    return this.#folders;
  }

  get store(): SettingsFile {
    const { isInspected, onNotice } = this.#options;
    const report = (text: string) => void onNotice?.("SETTINGS_MADE_PRIVATE", text);
    return new SettingsFile(this.folders.config, isInspected ? undefined : report);
  }

  /** The settings in use. Throws UsageError or LocalError. */
  get settings(): ResolvedSettings {
    if (!this.#settings) {
      const { choices, env, readKey, isInspected } = this.#options;
      const settings = resolveSettings(choices, env, this.store.read(), readKey);
      if (!isInspected) void settings.apiKey;
      this.#settings = settings;
    }
    return this.#settings;
  }

  /** The history of this machine's create calls; undefined if it is turned off or has no folder. */
  get history(): History | undefined {
    const { state } = this.folders;
    if (this.settings.history.value === "off" || state === undefined) return undefined;
    this.#history ??= new History(state, () => this.#options.clock.now());
    return this.#history;
  }

  /** The client of the service in use. Throws CodedError if the base URL or the key is missing. */
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

  /** Applies the limit of `--per-day` to this account and to the accounts that it opens later. */
  limitDay({ perDay }: { perDay?: number }): void {
    if (perDay === undefined) return;
    this.#options = { ...this.#options, choices: { ...this.#options.choices, perDay } };
    this.#settings = undefined;
  }

  get outputField(): string {
    return this.settings.gaps.outputField.value;
  }

  /** The provider in use; undefined for the research interface itself. */
  get provider(): Provider | undefined {
    return findProvider(this.settings.provider.value);
  }

  isHere(entry: Pick<HistoryEntry, "origin" | "base_path">): boolean {
    const { baseUrl, provider } = this.settings;
    if (!baseUrl || !URL.canParse(baseUrl.value)) return true;
    const url = new URL(baseUrl.value);
    return isCreatedAtService(entry, { origin: url.origin, ...splitBasePath(url, provider.value) });
  }

  /** Returns whether a create call was first sent to this account, even if another account accepted it. */
  isOwn(entry: HistoryEntry): boolean {
    return this.#hasMade(entry) || (entry.asked_of !== undefined && this.#hasMade(entry.asked_of));
  }

  /** Returns whether a recorded account is this one. The same profile is enough, because its stored key may have been replaced. */
  #hasMade(entry: AccountOfEntry): boolean {
    const { baseUrl, apiKey } = this.settings;
    if (!baseUrl || !apiKey) return this.isHere(entry);
    if (!this.isHere(entry)) return false;
    if (apiKey.boundTo !== undefined && entry.profile === this.profile) return true;
    this.#keyId ??= hashApiKey(apiKey.value);
    return entry.key_id === this.#keyId;
  }

  /** Finds the account of the profile that a create call was recorded with; undefined if flags or variables choose the account (contract §3). */
  findAccount(entry: HistoryEntry): ProfileAccount | undefined {
    const { choices, env, onNotice } = this.#options;
    const { profile, baseUrl, provider } = choices;
    if (profile || baseUrl || provider || env.RESEARCH_PROFILE || env.RESEARCH_BASE_URL) return undefined;
    if (this.settings.baseUrl && this.#hasMade(entry)) return undefined;
    const name = entry.profile ?? DEFAULT_PROFILE;
    const account = this.findAccountNamed(name);
    if (!account?.isHere(entry)) return undefined;
    if (!this.#announcedProfiles.has(name))
      void onNotice?.("OTHER_ACCOUNT", `using profile ${name} at ${entry.origin}, which created it`);
    this.#announcedProfiles.add(name);
    return account;
  }

  chooseAccount(requestId: string, entry: HistoryEntry | undefined): Account | undefined {
    const account = entry && this.findAccount(entry);
    const refusal = account ? undefined : this.explainRefusal(requestId, entry);
    return refusal ? createUnreachableAccount(this, entry, refusal) : account;
  }

  /**
   * Returns the error if this account must not be asked about a request: because the history has the request but no base
   * URL is configured, or because the id has another provider's form. The error names the service that created it.
   */
  explainRefusal(requestId: string, entry: HistoryEntry | undefined): ResearchError | undefined {
    const { baseUrl, provider } = this.settings;
    if (entry && !baseUrl) {
      const where = `${getServiceAddress(entry)} with profile ${entry.profile ?? DEFAULT_PROFILE}`;
      const why = `${requestId} was created at ${where}, but this profile has no key for that origin any more`;
      return new ResearchError("NOT_CONFIGURED", why, { requestId, hint: this.describeWay(entry) });
    }
    if (!baseUrl || (entry && this.isHere(entry))) return undefined;
    const owners = listProvidersOfId(requestId, provider.value);
    if (owners.length === 0) return undefined;
    const names = owners.map(({ title }) => title).join(" or ");
    const why = `${requestId} is an id of ${names}, so nothing was sent to ${baseUrl.value}`;
    return new ResearchError("NOT_FOUND", why, { requestId, hint: this.describeWay(entry, owners) });
  }

  /** Describes which flag or login reaches the account that created a request, or else a provider whose ids have that form. */
  describeWay(
    entry: StateSubject | undefined,
    owners: readonly Provider[] = listProvidersOfId(entry?.request_id ?? "", INTERFACE),
  ): string {
    const isThere = (account: ProfileAccount) =>
      entry ? account.isHere(entry) : owners.some(({ name }) => name === account.provider?.name);
    const there = this.accounts.filter((account) => account.profile !== this.profile && isThere(account));
    const account = there.find(({ profile }) => profile === entry?.profile) ?? there[0];
    if (account) return `add --profile ${account.profile}`;
    const provider = PROVIDERS.find(({ baseUrl }) => baseUrl === entry?.origin) ?? owners[0];
    const isOwn = !entry || provider?.baseUrl === entry.origin;
    const site = isOwn ? "" : ` --base-url ${getServiceAddress(entry)}`;
    return provider ? `\`research login ${provider.name}${site}\` stores an account there` : `add${site}`;
  }

  /** Finds the account of a profile; undefined if the profile is missing or has no key for its origin. */
  findAccountNamed(profile: string): ProfileAccount | undefined {
    try {
      const account = this.#openAccount(profile, "the history");
      requireConnection(account.settings);
      return account;
    } catch {
      return undefined;
    }
  }

  /** The accounts of all profiles that have a key for their origin. */
  get accounts(): ProfileAccount[] {
    return Object.keys(this.store.read().profiles).flatMap((name) => this.findAccountNamed(name) ?? []);
  }

  /** Opens the accounts of profiles; other flags have no effect on them (contract §12). Throws UsageError, or one CodedError that names all profiles without a key. */
  openNamed(profiles: readonly string[], flag: string): ProfileAccount[] {
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
    throw new CodedError("NOT_AUTHENTICATED", `no usable API key: ${keyless.join("; ")}`, {
      hint: "Run `research login -p PROFILE` to store a key. At a provider's own address, you can set the provider's own variable instead.",
    });
  }

  /** Opens the account of one profile, without the variables and flags for another account. Throws UsageError. */
  #openAccount(profile: string, flag: string): ProfileAccount {
    const opened = this.#named.get(profile);
    if (opened) return opened;
    const { env: all, choices } = this.#options;
    const env = { ...all };
    for (const name of ["API_KEY", "API_KEY_FILE", "BASE_URL", "PROVIDER"]) delete env[`RESEARCH_${name}`];
    const { provider: _, baseUrl: __, ...others } = choices;
    const settings = { ...others, profile, profileFlag: flag };
    const account = new ProfileAccount({ ...this.#options, env, choices: settings, onNotice: undefined });
    void account.settings;
    this.#named.set(profile, account);
    return account;
  }

  /** Loads the dialect of the service in use, on first use. */
  get dialect(): () => Promise<Dialect> {
    const { provider, settings } = this;
    const gaps = Object.fromEntries(Object.entries(settings.gaps).map(([name, { value }]) => [name, value]));
    return async () => (provider ? provider.load(provider.defaultModel) : createInterfaceDialect(gaps));
  }

  /** The options of the client that are the same for every service, without address and key. */
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

  /** Returns the create calls allowed per hour by flag, option or setting (§8); Infinity for no limit, undefined if none is set. Throws UsageError. */
  getHourlyLimit({ tier, perHour }: LimitOptions): number | undefined {
    const isCount = perHour === Number.POSITIVE_INFINITY || Number.isInteger(perHour);
    if (perHour !== undefined && !(isCount && perHour > 0))
      throw new UsageError(
        `invalid value for per-hour: ${perHour}`,
        "The value must be a whole number, 1 or more.",
      );
    if (tier !== undefined && !isTier(tier))
      throw new UsageError(`unknown tier: ${tier}`, `The tiers are: ${Object.keys(TIERS).join(", ")}.`);
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
    if (skipped > 0) {
      const what = `${formatCount(skipped, "record")} in the history (${this.#history?.folder}) could not be read and will be skipped`;
      await this.#options.onNotice?.("HISTORY_SKIPPED", what);
    }
    await this.#client?.close();
    for (const account of this.#named.values()) await account.close();
  }
}

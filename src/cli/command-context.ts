import { formatFlag } from "../app/errors.js";
import { ProfileAccount } from "../app/profile-account.js";
import {
  DEFAULT_PROFILE,
  maskKey,
  type ReadKeyFile,
  type ResolvedSettings,
  requireBaseUrl,
  type SettingChoices,
} from "../app/resolve-settings.js";
import type { ClientEvent } from "../client/calls/client-options.js";
import type { Account } from "../client/workflows/account.js";
import { findUnusedProxy } from "../core/http/base-url-and-proxy.js";
import { quoteShellWord } from "../core/text/format-text.js";
import { formatDuration } from "../core/text/time-format.js";
import type { Host } from "./terminal/host.js";
import type { Interruption } from "./terminal/interruption.js";
import type { Reporter, Terminal } from "./terminal/reporter.js";

/** Announce a wait that is longer than this, in milliseconds. */
export const SILENT_WAIT_MS = 5_000;

export interface GlobalFlags
  extends Omit<SettingChoices, "provider" | "profileFlag" | "hasOwnKey" | "perDay"> {
  json?: boolean;
  verbose?: boolean;
  /** The profiles of `compare`; then `profile` is absent. */
  profiles?: readonly string[];
}

/** The context of a command: the account in use, and the terminal. */
export class Context extends ProfileAccount implements Terminal {
  constructor(
    readonly host: Host,
    readonly flags: GlobalFlags,
    readonly reporter: Reporter,
    readonly interruption: Interruption,
    readonly readKey?: ReadKeyFile,
  ) {
    super({
      ...{ env: host.env, platform: host.platform, clock: host.clock, choices: flags, readKey },
      client: {
        userAgent: `research-cli/${host.version}`,
        random: () => host.random(),
        onEvent: (event) => reportEvent(event, { host, flags, reporter }),
      },
      onConnect: (settings) => {
        host.beforeRequests?.();
        const [unused, instead] = findUnusedProxy(requireBaseUrl(settings), host.env) ?? [];
        if (unused) void reporter.writeNotice("PROXY_NOT_USED", `${unused} is not used: set ${instead}`);
        if (flags.verbose) void reportSettings(settings, reporter);
      },
      onNotice: (code, text) => reporter.writeNotice(code, text),
    });
  }

  /** Returns a context of the same process with other settings. The command `research try` needs one for the service that it starts. */
  createWith(env: Host["env"], flags: GlobalFlags): Context {
    return new Context({ ...this.host, env }, flags, this.reporter, this.interruption, this.readKey);
  }

  get signal(): AbortSignal {
    return this.interruption.signal;
  }
}

function reportEvent(
  event: ClientEvent,
  { host, flags, reporter }: Pick<Context, "host" | "flags" | "reporter">,
) {
  if (event.kind === "exchange") {
    const { method, url, outcome, elapsedMs } = event;
    if (flags.verbose)
      void reporter.writeNotice("EXCHANGE", `${method} ${url}: ${outcome} (${Math.round(elapsedMs)} ms)`);
  } else if (event.waitMs > SILENT_WAIT_MS || flags.verbose) {
    const until = new Date(host.clock.now() + event.waitMs).toISOString();
    void reporter.writeNotice(
      "RETRYING",
      `${event.error.message}; trying again in ${formatDuration(event.waitMs)} (${until})`,
    );
  }
}

function reportSettings({ baseUrl, apiKey, profile }: ResolvedSettings, reporter: Reporter): Promise<void> {
  const parts = [
    `base URL ${baseUrl?.value} (${baseUrl?.source})`,
    `key ${maskKey(apiKey?.value ?? "")} (${apiKey?.source})`,
    `profile ${profile.value} (${profile.source})`,
  ];
  return reporter.writeNotice("SETTINGS", parts.join(", "));
}

export function listGlobalArguments({ profile, baseUrl, insecureHttp }: GlobalFlags): string[] {
  return listFlagArguments({ profile, baseUrl, insecureHttp });
}

/** Formats the command that resumes this one: `verb` with `args`, its own flags, and the global flags that were given. */
export function formatResumeCommand(
  given: GlobalFlags,
  verb: string,
  args: readonly string[],
  ownWords: readonly string[] = [],
): string {
  const flags = [...ownWords, ...listGlobalArguments(given)];
  // An id or a prompt may begin with a dash.
  const words = args.some((arg) => /^-./.test(arg)) ? [...flags, "--", ...args] : [...args, ...flags];
  return `research ${[verb, ...words.map(quoteShellWord)].join(" ")}`;
}

/** Formats the command that resumes at `account`, which may differ from the account in use. */
export function formatResumeCommandAt(
  ctx: Context,
  account: Pick<Account, "profile">,
  verb: string,
  requestId: string,
  ownWords?: readonly string[],
): string {
  const profile = account.profile ?? DEFAULT_PROFILE;
  return formatResumeCommand(
    account === ctx ? ctx.flags : { ...ctx.flags, profile },
    verb,
    [requestId],
    ownWords,
  );
}

const DURATIONS: ReadonlySet<string> = new Set(["timeout", "interval", "patience", "within"]);

export function listFlagArguments(options: object): string[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    const flag = formatFlag(name);
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    if (Array.isArray(value)) return value.flatMap((item) => [flag, String(item)]);
    return [flag, DURATIONS.has(name) ? `${value}ms` : String(value)];
  });
}

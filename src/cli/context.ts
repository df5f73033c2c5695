import type { ClientEvent } from "../client/options.js";
import { type ReadKey, readKeyFile } from "../machine/key-file.js";
import { Machine } from "../machine/machine.js";
import type { Choices } from "../machine/precedence.js";
import { maskKey, type ResolvedSettings } from "../machine/settings.js";
import { formatDuration } from "../text/duration.js";
import type { Host } from "./terminal/host.js";
import type { Interruption } from "./terminal/interruption.js";
import type { Reporter } from "./terminal/reporter.js";
import type { Terminal } from "./terminal/terminal.js";

/** A wait that is longer than this, in milliseconds, is announced. */
export const SILENT_WAIT_MS = 5_000;

/** The global flags, as commander names them. */
export interface Globals extends Omit<Choices, "provider"> {
  json?: boolean;
  verbose?: boolean;
}

/** What a command works with: this machine, and the terminal that it was called from. */
export class Context extends Machine implements Terminal {
  readonly host: Host;
  readonly flags: Globals;
  readonly reporter: Reporter;
  readonly interruption: Interruption;
  readonly #readKey: ReadKey;

  constructor(
    host: Host,
    flags: Globals,
    reporter: Reporter,
    interruption: Interruption,
    readKey: ReadKey = readKeyFile,
  ) {
    super({
      ...{ env: host.env, platform: host.platform, clock: host.clock, choices: flags, readKey },
      client: {
        userAgent: `research-cli/${host.version}`,
        random: () => host.random(),
        onEvent: (event) => sayEvent(event, { host, flags, reporter }),
      },
      onConnect: (settings) => {
        host.beforeRequests?.();
        if (flags.verbose) void saySettings(settings, reporter);
      },
      onMadePrivate: (text) => void reporter.notice("SETTINGS_MADE_PRIVATE", text),
      onSkipped: (records, folder) => saySkipped(records, folder, reporter),
    });
    this.host = host;
    this.flags = flags;
    this.reporter = reporter;
    this.interruption = interruption;
    this.#readKey = readKey;
  }

  /** A context of the same process with other surroundings: `try` speaks to a service of its own. */
  with(env: Host["env"], flags: Globals): Context {
    return new Context({ ...this.host, env }, flags, this.reporter, this.interruption, this.#readKey);
  }

  get signal(): AbortSignal {
    return this.interruption.signal;
  }
}

function sayEvent(
  event: ClientEvent,
  { host, flags, reporter }: Pick<Context, "host" | "flags" | "reporter">,
) {
  if (event.kind === "exchange") {
    const { method, url, outcome, elapsedMs } = event;
    if (flags.verbose)
      void reporter.notice("EXCHANGE", `${method} ${url}: ${outcome} (${Math.round(elapsedMs)} ms)`);
  } else if (event.waitMs > SILENT_WAIT_MS || flags.verbose) {
    const until = new Date(host.clock.now() + event.waitMs).toISOString();
    void reporter.notice(
      "RETRYING",
      `${event.error.message}; trying again in ${formatDuration(event.waitMs)} (${until})`,
    );
  }
}

function saySettings({ baseUrl, apiKey, profile }: ResolvedSettings, reporter: Reporter): Promise<void> {
  const parts = [
    `base URL ${baseUrl?.value} (${baseUrl?.source})`,
    `key ${maskKey(apiKey?.value ?? "")} (${apiKey?.source})`,
    `profile ${profile.value} (${profile.source})`,
  ];
  return reporter.notice("SETTINGS", parts.join(", "));
}

function saySkipped(records: number, folder: string, reporter: Reporter): Promise<void> {
  const what =
    records === 1 ? "1 record that could not be read was" : `${records} records that could not be read were`;
  return reporter.notice("HISTORY_SKIPPED", `${what} skipped in the history (${folder})`);
}

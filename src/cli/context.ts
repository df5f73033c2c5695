import { ResearchClient } from "../client/client.js";
import type { ClientEvent } from "../client/options.js";
import type { Gaps } from "../protocol/endpoints.js";
import { type Folders, folders } from "../store/folders.js";
import { History } from "../store/history/history.js";
import { Settings } from "../store/settings.js";
import type { Ports } from "../workflows/ports.js";
import { type ReadKey, readKeyFile } from "./input/key-file.js";
import { portsOf } from "./ports.js";
import {
  type Globals,
  maskKey,
  type ResolvedSettings,
  requireConnection,
  resolveSettings,
} from "./settings.js";
import { formatDuration } from "./terminal/durations.js";
import type { Host } from "./terminal/host.js";
import type { Interruption } from "./terminal/interruption.js";
import type { Reporter } from "./terminal/reporter.js";
import type { Terminal } from "./terminal/terminal.js";

/** A wait that is longer than this, in milliseconds, is announced. */
export const SILENT_WAIT_MS = 5_000;

/** What a command works with. Costly things are made on first use. */
export class Context implements Terminal {
  readonly host: Host;
  readonly flags: Globals;
  readonly reporter: Reporter;
  readonly interruption: Interruption;
  readonly readKey: ReadKey;
  #folders: Folders | undefined;
  #resolved: ResolvedSettings | undefined;
  #history: History | null | undefined;
  #client: ResearchClient | undefined;
  #ports: Ports | undefined;

  constructor(
    host: Host,
    flags: Globals,
    reporter: Reporter,
    interruption: Interruption,
    readKey: ReadKey = readKeyFile,
  ) {
    this.host = host;
    this.flags = flags;
    this.reporter = reporter;
    this.interruption = interruption;
    this.readKey = readKey;
  }

  /** A context of the same process with other surroundings: `try` speaks to a service of its own. */
  with(env: Readonly<Record<string, string | undefined>>, flags: Globals): Context {
    return new Context({ ...this.host, env }, flags, this.reporter, this.interruption, this.readKey);
  }

  get signal(): AbortSignal {
    return this.interruption.signal;
  }

  get folders(): Folders {
    this.#folders ??= folders(this.host);
    return this.#folders;
  }

  get store(): Settings {
    return new Settings(
      this.folders.config,
      (text) => void this.reporter.notice("SETTINGS_MADE_PRIVATE", text),
    );
  }

  get settings(): ResolvedSettings {
    this.#resolved ??= resolveSettings(this.flags, this.host.env, this.store.read(), this.readKey);
    return this.#resolved;
  }

  /** What this machine created; undefined if the history is switched off, or there is no folder for it. */
  get history(): History | undefined {
    if (this.#history === undefined) {
      const keeps = this.settings.history.value === "on" && this.folders.state;
      this.#history = keeps ? new History(keeps, () => this.host.clock.now()) : null;
    }
    return this.#history ?? undefined;
  }

  /** Speaks to the service in force. Throws CliError if the base URL or the key is missing. */
  get client(): ResearchClient {
    if (!this.#client) {
      const { settings, host, flags } = this;
      const { baseUrl, apiKey } = requireConnection(settings);
      host.beforeRequests?.();
      this.#client = new ResearchClient({
        baseUrl,
        apiKey,
        gaps: Object.fromEntries(
          Object.entries(settings.gaps).map(([name, { value }]) => [name, value]),
        ) as unknown as Gaps,
        insecureHttp: settings.insecureHttp.value,
        ...(flags.requestTimeout !== undefined && { requestTimeout: flags.requestTimeout }),
        proxyEnvironment: host.env,
        userAgent: `research-cli/${host.version}`,
        clock: host.clock,
        random: () => host.random(),
        onEvent: (event) => this.#tell(event),
      });
      if (flags.verbose) void this.#tellSettings();
    }
    return this.#client;
  }

  /** What the workflows work with. */
  get ports(): Ports {
    this.#ports ??= portsOf(this);
    return this.#ports;
  }

  /** What the history and the client leave behind: said, and closed. */
  async close(): Promise<void> {
    const skipped = this.#history?.skipped ?? 0;
    if (skipped > 0) {
      const what =
        skipped === 1
          ? "1 record that could not be read was"
          : `${skipped} records that could not be read were`;
      await this.reporter.notice("HISTORY_SKIPPED", `${what} skipped in the history (${this.folders.state})`);
    }
    await this.#client?.close();
  }

  #tell(event: ClientEvent): void {
    if (event.kind === "exchange") {
      const { method, url, outcome, elapsedMs } = event;
      if (this.flags.verbose)
        void this.reporter.notice("EXCHANGE", `${method} ${url}: ${outcome} (${Math.round(elapsedMs)} ms)`);
    } else if (event.waitMs > SILENT_WAIT_MS || this.flags.verbose) {
      const until = new Date(this.host.clock.now() + event.waitMs).toISOString();
      void this.reporter.notice(
        "RETRYING",
        `${event.error.message}; trying again in ${formatDuration(event.waitMs)} (${until})`,
      );
    }
  }

  async #tellSettings(): Promise<void> {
    const { baseUrl, apiKey, profile } = this.settings;
    const parts = [
      `base URL ${baseUrl?.value} (${baseUrl?.source})`,
      `key ${maskKey(apiKey?.value ?? "")} (${apiKey?.source})`,
      `profile ${profile.value} (${profile.source})`,
    ];
    await this.reporter.notice("SETTINGS", parts.join(", "));
  }
}

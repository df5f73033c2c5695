import type { Clock } from "../../core/clock.js";

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Sink {
  readonly isTTY: boolean;
  /** For a live line on a terminal; undefined if the stream is not a terminal. */
  readonly stream: NodeJS.WriteStream | undefined;
  /** Resolves when all data is written. Throws the system's error, `EPIPE` for a closed pipe. */
  write(data: string | Uint8Array): Promise<void>;
}

/** The process as the program sees it. All input from outside comes through it, so that tests can replace it. */
export interface Host {
  readonly version: string;
  /** The command that starts this program from any folder: absolute paths of the runtime and the program. */
  readonly program: readonly [string, string];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly stdin: { readonly isTTY: boolean; readonly stream: NodeJS.ReadStream };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly clock: Clock;
  /** In [0, 1). */
  random(): number;
  /** Calls back for each signal until the returned function is called. */
  onSignal(listener: (signal: Signal) => void): () => void;
  /** Calls back for each SIGUSR2, which would end the process otherwise; not on Windows. */
  onUserSignal?(listener: () => void): void;
  /** Ends the process by a signal now, without output. */
  die(signal: Signal): void;
  /** Prepares the runtime for requests, before the HTTP client is loaded. */
  beforeRequests?(): void;
  /** Redirects the runtime's own warnings. */
  onWarning(listener: (warning: Error) => void): void;
}

/** How the process ends: with an exit code, or by a signal after all output is written. */
export interface ProcessEnding {
  code: number;
  signal?: Signal;
}

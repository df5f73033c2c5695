import type { Clock } from "../../core/clock.js";

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Sink {
  readonly isTTY: boolean;
  /** The stream, on which a live line can be drawn; undefined if it is not a terminal. */
  readonly stream: NodeJS.WriteStream | undefined;
  /** Resolves when all data is written. Rejects with the system's error: `EPIPE` if the pipe was closed. */
  write(data: string | Uint8Array): Promise<void>;
}

/** What the program uses of its process. All input from outside comes through it, so that tests can replace it. */
export interface Host {
  readonly version: string;
  /** The command that starts this program in any folder: the absolute paths of the runtime and of the program. */
  readonly program: readonly [string, string];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly stdin: { readonly isTTY: boolean; readonly stream: NodeJS.ReadStream };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** Calls `listener` for each signal, until the returned function is called. */
  onSignal(listener: (signal: Signal) => void): () => void;
  /** Calls `listener` for each SIGUSR2, which would otherwise end the process. Undefined on Windows. */
  onUserSignal?(listener: () => void): void;
  /** Ends the process at once by a signal, without output. */
  die(signal: Signal): void;
  /** Prepares the runtime for requests, before the HTTP client is loaded. */
  beforeRequests?(): void;
  /** Passes the runtime's own warnings to `listener` instead of printing them. */
  onWarning(listener: (warning: Error) => void): void;
}

/** How the process ends: with an exit code or, after all output is written, by a signal. */
export interface ProcessEnding {
  code: number;
  signal?: Signal;
}

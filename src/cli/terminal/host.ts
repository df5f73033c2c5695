import type { Clock } from "../../core/clock.js";

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Sink {
  readonly isTTY: boolean;
  /** For a live line on a terminal; undefined if the stream is not a terminal. */
  readonly stream: NodeJS.WriteStream | undefined;
  /** Resolves when all of it is handed over. Throws the system's error, `EPIPE` for a closed pipe. */
  write(data: string | Uint8Array): Promise<void>;
}

/** The process as the program sees it: everything from outside comes through here, so that tests can set it. */
export interface Host {
  readonly version: string;
  /** What starts this program from anywhere: absolute paths of the runtime and of the program. */
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
  /** Dies of a signal now, without another word. */
  die(signal: Signal): void;
  /** Readies the runtime for requests, before what makes them is loaded. */
  beforeRequests?(): void;
  /** Takes over the runtime's own warnings. */
  onWarning(listener: (warning: Error) => void): void;
}

/** How the process ends: by exit code, or of a signal after having said what there was to say. */
export interface ProcessEnding {
  code: number;
  signal?: Signal;
}

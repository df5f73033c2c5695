// Loaded when the first request is sent; virtual time would pass meanwhile.
import "../../src/client/http/connections/dispatchers.js";
import { Readable } from "node:stream";
import { main, systemClock } from "../../src/cli/main.js";
import type { Host, Signal, Sink } from "../../src/cli/terminal/host.js";
import type { Clock } from "../../src/clock.js";
import type { RunResult } from "./run.js";

export interface InProcessOptions {
  env: Host["env"];
  /** Default: the real one. */
  clock?: Clock;
  /** What stands on stdin; nothing by default. */
  input?: string;
}

/** A command line that runs in this process; what it wrote so far can be looked at. */
export class InProcess {
  stdout = "";
  stderr = "";
  /** The signal it killed itself with, without waiting for anything. */
  died: Signal | undefined;
  readonly done: Promise<RunResult>;
  readonly #listeners = new Set<(signal: Signal) => void>();

  constructor(argv: readonly string[], options: InProcessOptions) {
    this.done = main(argv, this.#host(options)).then(({ code, signal }) => ({
      code: signal ? null : code,
      signal: signal ?? null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Sends a signal, as `kill` would. */
  signal(name: Signal): void {
    for (const listener of this.#listeners) listener(name);
  }

  #host({ env, clock = systemClock, input = "" }: InProcessOptions): Host {
    const sink = (name: "stdout" | "stderr"): Sink => ({
      isTTY: false,
      stream: undefined,
      write: async (data) => {
        this[name] += Buffer.from(data).toString("utf8");
      },
    });
    return {
      ...{
        version: "0.0.0",
        program: ["/bin/node", "/bin/research.js"],
        env,
        platform: process.platform,
        clock,
      },
      stdin: { isTTY: false, stream: Readable.from([input]) as NodeJS.ReadStream },
      stdout: sink("stdout"),
      stderr: sink("stderr"),
      // The middle of every jitter, so that the times of a test are known.
      random: () => 0.5,
      onSignal: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      die: (signal) => {
        this.died = signal;
      },
      onWarning: () => {},
    };
  }
}

/** Runs a command line in this process to its end: the program without bin/research.js. */
export function inProcess(argv: readonly string[], options: InProcessOptions): Promise<RunResult> {
  return new InProcess(argv, options).done;
}

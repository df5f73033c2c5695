import { Readable, type Writable } from "node:stream";
import { main, systemClock } from "../../src/cli/main.js";
import type { Host, Signal, Sink } from "../../src/cli/terminal/host.js";
import type { Clock } from "../../src/core/clock.js";
import { checkExit } from "./exit-table.js";
import { folderWith } from "./folder.js";
import { environment, type RunOptions, type RunResult } from "./run.js";

export interface InProcessOptions {
  env: Host["env"];
  /** Default: the real one. */
  clock?: Clock;
  /** Default: that of this process. */
  platform?: Host["platform"];
  /** What comes on stdin; nothing by default. */
  input?: string | Buffer | Readable;
  /** Is given what is written to stdout, as it is written. */
  onStdout?: (text: string) => void;
  /** The terminal that all three streams are. */
  terminal?: Writable;
}

/** A command line that runs in this process; what it wrote so far can be looked at. */
export class InProcess {
  stdout = "";
  stderr = "";
  /** The signal it killed itself with, without waiting for anything. */
  died: Signal | undefined;
  readonly done: Promise<RunResult>;
  readonly #listeners = new Set<(signal: Signal) => void>();
  readonly #watchers = new Set<() => void>();

  constructor(argv: readonly string[], options: InProcessOptions) {
    this.done = main(argv, this.#host(options)).then(async ({ code, signal }) => {
      await checkExit(argv, signal ? null : code);
      const { stdout, stderr } = this;
      return { code: signal ? null : code, signal: signal ?? null, stdout, stderr };
    });
  }

  /** The first match of `pattern` in what it writes; rejects when it has ended without one. */
  waitFor(pattern: RegExp, { on = "stdout" }: { on?: "stdout" | "stderr" } = {}): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = this[on].match(pattern);
        if (!match) return;
        this.#watchers.delete(look);
        resolve(match);
      };
      this.#watchers.add(look);
      look();
      const end = () => reject(new Error(`it ended without ${pattern}: ${this.stdout}\n${this.stderr}`));
      this.done.then(end, reject);
    });
  }

  /** Sends a signal, as `kill` would. */
  signal(name: Signal): void {
    for (const listener of this.#listeners) listener(name);
  }

  #host({
    env,
    clock = systemClock,
    platform = process.platform,
    input = "",
    onStdout,
    terminal,
  }: InProcessOptions): Host {
    const sink = (name: "stdout" | "stderr"): Sink => ({
      isTTY: terminal !== undefined,
      stream: terminal as NodeJS.WriteStream | undefined,
      write: async (data) => {
        const text = Buffer.from(data).toString("utf8");
        this[name] += text;
        if (name === "stdout") onStdout?.(text);
        terminal?.write(text);
        for (const look of this.#watchers) look();
      },
    });
    const stream = input instanceof Readable ? input : Readable.from([Buffer.from(input)]);
    return {
      ...{
        version: "0.0.0",
        program: ["/bin/node", "/bin/research.js"],
        env,
        platform,
        clock,
      },
      stdin: { isTTY: terminal !== undefined, stream: stream as NodeJS.ReadStream },
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

let inFolder: Promise<unknown> = Promise.resolve();

/**
 * The same with the options of `research` in run.ts, for a tenth of the time of a process: for what does not depend on
 * the streams and the signals of a process. A process has one current folder, so runs that name one wait for each other.
 */
export function research(
  args: readonly string[],
  { home = folderWith(), cwd, env, input = "" }: Pick<RunOptions, "home" | "cwd" | "env" | "input"> = {},
): Promise<RunResult> {
  const run = () => inProcess(args, { env: environment(home, env), input });
  if (cwd === undefined) return run();
  const done = inFolder.then(async () => {
    const before = process.cwd();
    process.chdir(cwd);
    return run().finally(() => process.chdir(before));
  });
  inFolder = done.catch(() => {});
  return done;
}

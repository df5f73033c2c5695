import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { requireBuild } from "./build.js";
import { checkExit } from "./exit-table.js";
import { folderWith } from "./folder.js";
import { leftovers } from "./leftovers.js";

export const PROGRAM = join(import.meta.dirname, "../../bin/research.js");
/** The Node that runs the program under test; `npm run test:node` sets others than the one that runs the tests. */
export const NODE = process.env.RESEARCH_TEST_NODE || process.execPath;

export interface RunOptions {
  /** Added to the scrubbed environment of `environment`; undefined takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  /** What stands on stdin, which then ends; nothing by default. */
  input?: string | Buffer;
  /** Whether stdin stays open after the input, as that of a program that writes later. */
  openInput?: boolean;
  /** A pipe that nobody reads until `read()`. */
  unread?: "stdout" | "stderr";
  /** Default: the home folder. */
  cwd?: string;
  /** Default: an empty folder of its own, removed when the test file is done. */
  home?: string;
  /** Milliseconds after which the program is killed and the run rejects; default 100,000. */
  timeoutMs?: number;
}

export interface RunResult {
  /** Null where a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Only what hangs comes near it, also on a machine with other work; a test may take 120 s. */
const DEFAULT_TIMEOUT_MS = 100_000;

/** All that a program under test gets to see: `PATH`, `home`, an even locale and time zone, and `extra`. */
export function environment(home: string, extra: RunOptions["env"] = {}): Record<string, string> {
  const all = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", TZ: "UTC", ...extra };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Runs the built program to its end. Rejects when it has not ended in time, or cannot be started. */
export function research(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return start(args, options).done;
}

/** Runs a bash script to its end, in which `research` is the built program. */
export function bash(script: string, options: RunOptions = {}): Promise<RunResult> {
  return startBash(script, options).done;
}

/** Starts the built program; see `Running`. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  return new Running(NODE, [PROGRAM, ...args], options);
}

/** Starts a bash script, in which `research` is the built program, as the leader of a process group. */
export function startBash(script: string, options: RunOptions = {}): Running {
  return new Running("bash", ["-c", `${BASH_PRELUDE}${script}`], options);
}

/** A function and no alias: those are not expanded in scripts. */
export const BASH_PRELUDE = `research() { "${NODE}" "${PROGRAM}" "$@"; }\n`;

/** A program that is running. Each is the leader of a process group of its own, and ends with the test file. */
export class Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  /** Resolves when it has ended and both of its streams are closed. */
  readonly done: Promise<RunResult>;
  stdout = "";
  stderr = "";
  readonly #watchers = new Set<() => void>();

  constructor(command: string, args: readonly string[], options: RunOptions = {}) {
    if (args.some((arg) => arg.includes(PROGRAM))) requireBuild();
    const home = options.home ?? folderWith();
    this.child = spawn(command, args, {
      cwd: options.cwd ?? home,
      env: environment(home, options.env),
      detached: true,
    });
    this.pid = this.child.pid ?? 0;
    this.child.stdin.on("error", () => {});
    if (options.openInput) this.child.stdin.write(options.input ?? "");
    else this.child.stdin.end(options.input);
    for (const name of ["stdout", "stderr"] as const) if (name !== options.unread) this.read(name);
    const killLater = () => this.kill("SIGKILL");
    leftovers.add(killLater);
    const limit = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.done = new Promise((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        this.kill("SIGKILL");
      }, limit);
      this.child.once("error", reject);
      this.child.once("close", (code, signal) => {
        clearTimeout(timer);
        leftovers.delete(killLater);
        if (late) reject(new Error(`still running after ${limit} ms: ${args.join(" ")}\n${this.#report()}`));
        else {
          const { stdout, stderr } = this;
          const checked = args[0] === PROGRAM ? checkExit(args.slice(1), code) : Promise.resolve();
          resolve(checked.then(() => ({ code, signal, stdout, stderr })));
        }
        for (const look of this.#watchers) look();
      });
    });
    // Whoever awaits `done` sees the failure; a test that has failed before must not fail once more.
    this.done.catch(() => {});
  }

  /** Reads a stream to its end. */
  read(name: "stdout" | "stderr"): void {
    this.child[name].setEncoding("utf8").on("data", (text: string) => {
      this[name] += text;
      for (const look of this.#watchers) look();
    });
  }

  /** Sends a signal to the program alone. */
  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Sends a signal to the whole process group, as a terminal does. */
  kill(name: NodeJS.Signals): void {
    if (!this.pid) return;
    try {
      process.kill(-this.pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  /** The first match of `pattern` in what was written so far; rejects when it has not come in time or cannot come. */
  waitFor(
    pattern: RegExp,
    { on = "stdout", timeoutMs = DEFAULT_TIMEOUT_MS }: { on?: "stdout" | "stderr"; timeoutMs?: number } = {},
  ): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const end = (outcome: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        outcome();
      };
      const fail = (why: string) =>
        end(() => reject(new Error(`${why} waiting for ${pattern} on ${on}\n${this.#report()}`)));
      const look = () => {
        const match = this[on].match(pattern);
        if (match) end(() => resolve(match));
        else if (this.child.stdout.closed && this.child.stderr.closed) fail("it ended");
      };
      const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs);
      this.#watchers.add(look);
      look();
    });
  }

  #report(): string {
    return `stdout: ${JSON.stringify(this.stdout)}\nstderr: ${JSON.stringify(this.stderr)}`;
  }
}

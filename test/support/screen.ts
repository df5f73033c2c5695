import { type IPty, spawn } from "@lydell/node-pty";
import { requireBuild } from "./build.js";
import { folderWith } from "./folder.js";
import { leftovers } from "./leftovers.js";
import { BASH_PRELUDE, environment, NODE, PROGRAM, type RunOptions } from "./run.js";
import { TerminalView } from "./terminal-view.js";

export interface ScreenOptions extends Omit<RunOptions, "input" | "timeoutMs"> {
  /** Characters a line; default 100. */
  cols?: number;
  rows?: number;
}

export interface ScreenEnd {
  code: number;
  /** The number of the signal that ended it, or 0. */
  signal: number;
}

/** Starts the built program on a pseudo-terminal. */
export function screen(args: readonly string[], options: ScreenOptions = {}): Screen {
  return new Screen(NODE, [PROGRAM, ...args], options);
}

/** Starts a bash script on a pseudo-terminal, in which `research` is the built program. */
export function bashScreen(script: string, options: ScreenOptions = {}): Screen {
  return new Screen("bash", ["-c", `${BASH_PRELUDE}${script}`], options);
}

/** A program on a real pseudo-terminal, and what a person in front of it sees. */
export class Screen extends TerminalView {
  /** Resolves when the program has ended and all it wrote is on the screen. */
  readonly done: Promise<ScreenEnd>;
  readonly #pty: IPty;

  constructor(command: string, args: readonly string[], options: ScreenOptions = {}) {
    if (args.some((arg) => arg.includes(PROGRAM))) requireBuild();
    const { cols = 100, rows = 30, home = folderWith() } = options;
    super({ cols, rows });
    const env = environment(home, { TERM: "xterm-256color", ...options.env });
    this.#pty = spawn(command, [...args], {
      cols,
      rows,
      cwd: options.cwd ?? home,
      env,
      name: env.TERM ?? "",
    });
    this.#pty.onData((text) => this.receive(text));
    const kill = () => this.kill();
    leftovers.add(kill);
    this.done = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal = 0 }) => {
        leftovers.delete(kill);
        void this.settle().then(() => resolve({ code: exitCode, signal }));
      });
    });
  }

  /** Types on the keyboard: `\x03` is Ctrl-C, `\r` the enter key. */
  type(text: string): void {
    this.#pty.write(text);
  }

  /** Hangs up, as closing the window does. */
  hangUp(): void {
    this.#pty.kill("SIGHUP");
  }

  /** Ends the program by force. */
  kill(): void {
    this.#pty.kill("SIGKILL");
  }
}

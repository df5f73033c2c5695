import { type IPty, spawn } from "@lydell/node-pty";
import { Terminal } from "@xterm/headless";
import { requireBuild } from "./build.js";
import { folderWith } from "./folder.js";
import { leftovers } from "./leftovers.js";
import { BASH_PRELUDE, environment, NODE, PROGRAM, type RunOptions } from "./run.js";

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
export class Screen {
  /** All that was written, with its escape sequences. */
  raw = "";
  /** Whether the cursor shows. */
  cursorVisible = true;
  /** Resolves when the program has ended and all it wrote is on the screen. */
  readonly done: Promise<ScreenEnd>;
  readonly #pty: IPty;
  readonly #terminal: Terminal;
  readonly #looks = new Set<() => void>();

  constructor(command: string, args: readonly string[], options: ScreenOptions = {}) {
    if (args.some((arg) => arg.includes(PROGRAM))) requireBuild();
    const { cols = 100, rows = 30, home = folderWith() } = options;
    this.#terminal = new Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true });
    for (const final of ["h", "l"]) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        if (parameters.includes(25)) this.cursorVisible = final === "h";
        return false;
      });
    }
    const env = environment(home, { TERM: "xterm-256color", ...options.env });
    this.#pty = spawn(command, [...args], {
      cols,
      rows,
      cwd: options.cwd ?? home,
      env,
      name: env.TERM ?? "",
    });
    this.#pty.onData((text) => {
      this.raw += text;
      this.#terminal.write(text, () => {
        for (const look of this.#looks) look();
      });
    });
    const kill = () => this.kill();
    leftovers.add(kill);
    this.done = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal = 0 }) => {
        leftovers.delete(kill);
        // The terminal takes what is written in turn, so this comes after all of it.
        this.#terminal.write("", () => resolve({ code: exitCode, signal }));
      });
    });
  }

  /** Types on the keyboard: `\x03` is Ctrl-C, `\r` the enter key. */
  type(text: string): void {
    this.#pty.write(text);
  }

  /** The lines on the screen, and those that have scrolled out of it, without blanks at their ends. */
  text(): string {
    const buffer = this.#terminal.buffer.active;
    const lines = Array.from({ length: buffer.length }, (_, index) =>
      buffer.getLine(index)?.translateToString(true).trimEnd(),
    );
    return lines.join("\n").trimEnd();
  }

  /** The lines that are wider than the terminal, so that they go on in the next one. */
  wideLines(): string[] {
    const buffer = this.#terminal.buffer.active;
    const lines = Array.from({ length: buffer.length }, (_, index) => buffer.getLine(index));
    return lines.flatMap((line, index) =>
      line && !line.isWrapped && lines[index + 1]?.isWrapped
        ? [line.translateToString(true) + lines[index + 1]?.translateToString(true)]
        : [],
    );
  }

  /** Resolves with the first match of `pattern` on the screen; rejects, with the screen, when it does not come. */
  waitFor(pattern: RegExp, timeoutMs = 100_000): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const end = (outcome: () => void) => {
        clearTimeout(timer);
        this.#looks.delete(look);
        outcome();
      };
      const look = () => {
        const match = this.text().match(pattern);
        if (match) end(() => resolve(match));
      };
      const timer = setTimeout(
        () => end(() => reject(new Error(`${pattern} did not come; the screen:\n${this.text()}`))),
        timeoutMs,
      );
      this.#looks.add(look);
      look();
    });
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

import { clearLine, clearScreenDown, cursorTo, moveCursor } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { folderWith } from "./folder.js";
import { InProcess } from "./in-process.js";
import { environment } from "./run.js";
import type { ScreenEnd, ScreenOptions } from "./screen.js";
import { TerminalView } from "./terminal-view.js";

const ROOT = process.cwd();

/** A terminal's stream, as far as a program can tell: what is written to it goes to `show`. */
class TerminalStream extends Writable {
  readonly isTTY = true;

  constructor(
    readonly columns: number,
    readonly rows: number,
    private readonly show: (text: string) => void,
  ) {
    super();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.show(chunk.toString("utf8"));
    done();
  }

  readonly clearLine = clearLine.bind(undefined, this);
  readonly clearScreenDown = clearScreenDown.bind(undefined, this);
  readonly cursorTo = cursorTo.bind(undefined, this);
  readonly moveCursor = moveCursor.bind(undefined, this);
}

/** A command line in this process, and what a person in front of its terminal sees. */
export class ScreenHere extends TerminalView {
  /** Resolves when it has ended and all it wrote is on the screen. */
  readonly done: Promise<ScreenEnd>;
  readonly #keyboard = new PassThrough();

  constructor(
    argv: readonly string[],
    { cols = 100, rows = 30, home = folderWith(), env, cwd }: ScreenOptions,
  ) {
    super({ cols, rows });
    // The kernel's terminal returns to the first column at each line break.
    const stream = new TerminalStream(cols, rows, (text) => this.receive(text.replace(/\n/g, "\r\n")));
    process.chdir(cwd ?? home);
    const all = environment(home, { TERM: "xterm-256color", ...env });
    const program = new InProcess(argv, { env: all, input: this.#keyboard, terminal: stream });
    this.done = program.done
      .finally(() => process.chdir(ROOT))
      .then(async ({ code }) => {
        await this.settle();
        return { code: code ?? 0, signal: 0 };
      });
  }

  /** Types on the keyboard: `\r` is the enter key. A key that sends a signal takes a pseudo-terminal. */
  type(text: string): void {
    this.#keyboard.write(text);
  }
}

/**
 * Runs a command line in this process on a terminal, for a tenth of the time of a pseudo-terminal: for what a person sees.
 * It has the current folder of the process, so one runs at a time.
 */
export function screenHere(argv: readonly string[], options: ScreenOptions = {}): ScreenHere {
  return new ScreenHere(argv, options);
}

import { Terminal } from "@xterm/headless";

/** What a person in front of a terminal sees. */
export class TerminalView {
  /** All that was written, with its escape sequences. */
  raw = "";
  /** Whether the cursor shows. */
  cursorVisible = true;
  readonly #terminal: Terminal;
  readonly #looks = new Set<() => void>();

  constructor({ cols, rows }: { cols: number; rows: number }) {
    this.#terminal = new Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true });
    for (const final of ["h", "l"]) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        if (parameters.includes(25)) this.cursorVisible = final === "h";
        return false;
      });
    }
  }

  /** Shows what is written to the terminal. */
  protected receive(text: string): void {
    this.raw += text;
    this.#terminal.write(text, () => {
      for (const look of this.#looks) look();
    });
  }

  /** Resolves when all of it is on the screen: the terminal takes what is written in turn. */
  protected settle(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write("", resolve));
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
}

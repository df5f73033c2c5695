import { CodedError } from "../../app/errors.js";
import { Interrupted } from "./interruption.js";
import { type Terminal, wrapForTerminal } from "./reporter.js";

/** Asks a question on stderr, so that stdout has only the result. Returns the typed line, which is not shown if `hidden`. */
export async function askQuestion(
  terminal: Terminal,
  question: string,
  { hidden = false } = {},
): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import("node:readline"),
    import("node:stream"),
  ]);
  terminal.signal.throwIfAborted();
  const { stdin, stderr } = terminal.host;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      // Do not await this write, because a late echo would appear in the next question.
      void stderr.write(chunk);
      done();
    },
  });
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  return await new Promise((resolve, reject) => {
    const lines = createInterface({
      input: stdin.stream,
      output: hidden ? silence : echo,
      terminal: stdin.isTTY,
    });
    // Print the question only now: before readline has the terminal, what the user types is shown.
    void stderr.write(`${wrapForTerminal(question, stderr)} `);
    const end = (settle: () => void) => {
      settle();
      terminal.signal.removeEventListener("abort", abort);
      lines.close();
    };
    const interrupt = (reason: unknown) => {
      // Begin a new line for later messages.
      void stderr.write("\n");
      end(() => reject(reason));
    };
    const abort = () => interrupt(terminal.signal.reason);
    // readline sets the terminal to raw mode, in which Ctrl-C is a key and sends no signal.
    lines.once("SIGINT", () => interrupt(new Interrupted("SIGINT")));
    lines.once("line", (line) => {
      if (hidden) void stderr.write("\n");
      end(() => resolve(line));
    });
    lines.once("close", () =>
      end(() => reject(new CodedError("USAGE", "stdin ended before an answer was given"))),
    );
    terminal.signal.addEventListener("abort", abort, { once: true });
  });
}

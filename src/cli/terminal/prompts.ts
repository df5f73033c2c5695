import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Context } from "../context.js";
import { CliError, Interrupted } from "../errors.js";

/** Asks a question on the terminal (stderr, so that stdout stays a result) and returns the line typed. */
export function ask(ctx: Context, question: string): Promise<string> {
  return readLine(ctx, question, false);
}

/** The same without showing what is typed. */
export function askHidden(ctx: Context, question: string): Promise<string> {
  return readLine(ctx, question, true);
}

function readLine(ctx: Context, question: string, hidden: boolean): Promise<string> {
  const { stdin, stderr } = ctx.host;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      // Not waited for: an echo that lags behind would stand in the next question.
      void stderr.write(chunk);
      done();
    },
  });
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  return new Promise((resolve, reject) => {
    const lines = createInterface({
      input: stdin.stream,
      output: hidden ? silence : echo,
      terminal: stdin.isTTY,
    });
    // Asked only now: before readline has the terminal, what is typed is shown.
    void stderr.write(question);
    const end = (settle: () => void) => {
      settle();
      ctx.signal.removeEventListener("abort", abort);
      lines.close();
    };
    const abort = () => end(() => reject(ctx.signal.reason));
    // readline takes the terminal into raw mode, where Ctrl-C is a key and no signal.
    lines.once("SIGINT", () => end(() => reject(new Interrupted("SIGINT"))));
    lines.once("line", (line) => {
      if (hidden) void stderr.write("\n");
      end(() => resolve(line));
    });
    lines.once("close", () =>
      end(() => reject(new CliError("USAGE", "stdin ended before an answer was given"))),
    );
    ctx.signal.addEventListener("abort", abort, { once: true });
  });
}

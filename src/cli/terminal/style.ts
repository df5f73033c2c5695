import { progress, showsProgress } from "./attention.js";
import { fitColumns } from "./fit-columns.js";
import type { Host, Sink } from "./host.js";

/** Columns of a terminal that does not say how many it has. */
const WIDTH = 80;
/** What stands beside the text: the spinner, a blank, and the last column, in which some terminals wrap. */
const BESIDE_TEXT = 3;

/** What colours mean here. Pure functions on text. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  busy(text: string): string;
}

const same = (text: string) => text;
export const PLAIN: Style = { bold: same, dim: same, good: same, bad: same, busy: same };

/** A line on a terminal that is rewritten in place. */
export interface LiveLine {
  /** `share` in [0, 1] of what is waited for is done; undefined if that is not known. */
  set(text: string, share?: number): void;
  /** Takes the line away, lets something else be written, and puts it back. */
  aside<T>(write: () => Promise<T>): Promise<T>;
  /** Takes the progress away that the terminal shows beside the line. */
  clearProgress(): void;
  stop(): void;
}

type Environment = Host["env"];

const isSet = (value: string | undefined) => value !== undefined && value !== "";
/** Some machines export `CI=false` outside of CI. */
const inCi = (env: Environment) => isSet(env.CI) && env.CI !== "false" && env.CI !== "0";

/** Whether a stream shows things that move. */
export function isLive(sink: Pick<Sink, "isTTY">, env: Environment): boolean {
  return sink.isTTY && env.TERM !== "dumb" && !inCi(env);
}

/** Whether a stream shows colour. `FORCE_COLOR` asks for colour in a pipe. */
function hasColour(sink: Sink, env: Environment): boolean {
  if (isSet(env.FORCE_COLOR)) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isLive(sink, env) && !isSet(env.NO_COLOR);
}

/** The style of a stream. chalk is loaded only if there is colour. */
export async function styleFor(sink: Sink, env: Environment): Promise<Style> {
  if (!hasColour(sink, env)) return PLAIN;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return { bold: chalk.bold, dim: chalk.dim, good: chalk.green, bad: chalk.red, busy: chalk.cyan };
}

/** A spinner on a terminal; undefined elsewhere, and on a terminal that says that it has no columns. */
export async function liveLine(sink: Sink, env: Environment): Promise<LiveLine | undefined> {
  if (!isLive(sink, env) || !sink.stream) return undefined;
  // ora divides by the columns to know how many lines it wrote: with 0 it clears lines for ever.
  if (sink.stream.columns === 0) return undefined;
  const { default: ora } = await import("ora");
  // ora's own stdin handling swallows Ctrl-C, so that three of them did not end a process.
  const spinner = ora({
    stream: sink.stream,
    discardStdin: false,
    // ora asks for CI by itself, and takes CI=false for one.
    isEnabled: true,
    color: hasColour(sink, env) ? "cyan" : false,
  });
  const { stream } = sink;
  let shown = "";
  const refit = () => {
    spinner.text = fitColumns(shown, Math.max(1, (stream.columns ?? WIDTH) - BESIDE_TEXT));
  };
  stream.on("resize", refit);
  const hasProgress = showsProgress(env);
  let written = "";
  const show = (sequence: string) => {
    if (hasProgress && sequence !== written) stream.write(sequence);
    written = sequence;
  };
  const clearProgress = () => {
    if (written !== "") show(progress("over"));
  };
  return {
    set(text, share) {
      show(progress(share));
      shown = text;
      refit();
      if (!spinner.isSpinning) spinner.start();
    },
    async aside(write) {
      const spinning = spinner.isSpinning;
      if (spinning) spinner.stop();
      try {
        return await write();
      } finally {
        if (spinning) spinner.start();
      }
    },
    clearProgress,
    stop() {
      clearProgress();
      stream.off("resize", refit);
      spinner.stop();
    },
  };
}

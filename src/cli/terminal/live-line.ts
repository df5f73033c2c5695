import type { Environment } from "../../core/files/local-error.js";
import { fitColumns } from "./align-columns.js";
import type { Sink } from "./host.js";
import { canShowLiveLine, getTerminalColumns, hasColour } from "./style.js";

/** The columns that are not for text: the spinner, a blank, and the last column, in which some terminals wrap. */
const BESIDE_TEXT = 3;

export interface LiveLine {
  set(text: string): void;
  /** Removes the line, runs `write` for other output, and draws the line again. */
  writeAside<T>(write: () => Promise<T>): Promise<T>;
  stop(): void;
}

/** Creates a spinner on a terminal; undefined elsewhere, and on a terminal that reports 0 columns. */
export async function createLiveLine(sink: Sink, env: Environment): Promise<LiveLine | undefined> {
  if (!canShowLiveLine(sink, env) || !sink.stream) return undefined;
  // ora divides by the number of columns to count its lines; with 0 it would clear lines for ever.
  if (sink.stream.columns === 0) return undefined;
  const { default: ora } = await import("ora");
  // ora's own handling of stdin swallows Ctrl-C: even three of them did not end a process.
  const spinner = ora({
    stream: sink.stream,
    discardStdin: false,
    // ora reads CI itself, and would take CI=false as set.
    isEnabled: true,
    color: hasColour(sink, env) ? "cyan" : false,
  });
  const { stream } = sink;
  let shown = "";
  const refit = () => {
    const columns = Math.max(1, getTerminalColumns(sink) - BESIDE_TEXT);
    const lines = shown.split("\n").map((line) => fitColumns(line, columns));
    spinner.text = lines.join("\n  ");
  };
  stream.on("resize", refit);
  return {
    set(text) {
      shown = text;
      refit();
      if (!spinner.isSpinning) spinner.start();
    },
    async writeAside(write) {
      const spinning = spinner.isSpinning;
      if (spinning) spinner.stop();
      try {
        return await write();
      } finally {
        if (spinning) spinner.start();
      }
    },
    stop() {
      stream.off("resize", refit);
      spinner.stop();
    },
  };
}

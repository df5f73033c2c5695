import type { Environment } from "../../core/files/local-error.js";
import type { Sink } from "./host.js";

/** Returns the width of a terminal in columns, or 80 if it does not report one. */
export function getTerminalColumns({ stream }: Pick<Sink, "stream">): number {
  return stream?.columns || 80;
}

const isVariableSet = (value: string | undefined) => value !== undefined && value !== "";
/** Returns whether CI is set. Some machines export `CI=false` outside of CI. */
const isCi = (env: Environment) => isVariableSet(env.CI) && env.CI !== "false" && env.CI !== "0";

export function canShowLiveLine(sink: Pick<Sink, "isTTY">, env: Environment): boolean {
  return sink.isTTY && env.TERM !== "dumb" && !isCi(env);
}

/** Returns whether a stream gets colour. `FORCE_COLOR` turns it on even in a pipe. */
export function hasColour(sink: Sink, env: Environment): boolean {
  if (isVariableSet(env.FORCE_COLOR)) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return canShowLiveLine(sink, env) && !isVariableSet(env.NO_COLOR);
}

/** Returns what a terminal supports for a formatted result. Unlike messages, a result ignores FORCE_COLOR (contract §6). */
export function getResultCapabilities(sink: Pick<Sink, "isTTY" | "stream">, env: Environment) {
  const isShown = canShowLiveLine(sink, env);
  return {
    columns: getTerminalColumns(sink),
    colour: isShown && !env.NO_COLOR,
    hyperlinks: isShown && hasHyperlinks(env),
  };
}

/** Returns whether a terminal shows OSC 8 as a link. Other terminals may print the code; tmux and screen, which set TERM, may drop it. */
function hasHyperlinks(env: Environment): boolean {
  const { TERM = "", TERM_PROGRAM = "", VTE_VERSION = "" } = env;
  if (/^(?:screen|tmux)/.test(TERM)) return false;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|rio|Hyper|Tabby)$/.test(TERM_PROGRAM) ||
    /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour|wezterm)/.test(TERM) ||
    // VTE's number 5000 is version 0.50.0, the first with links, which crashed on them.
    Number(VTE_VERSION) > 5000 ||
    Boolean(env.WT_SESSION || env.KONSOLE_VERSION || env.DOMTERM)
  );
}

/** Functions that colour text by meaning. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  busy(text: string): string;
}

const keepText = (text: string) => text;
export const PLAIN: Style = { bold: keepText, dim: keepText, good: keepText, bad: keepText, busy: keepText };

/** Returns the style of a stream. Loads chalk only if the stream gets colour. */
export async function chooseStyle(sink: Sink, env: Environment): Promise<Style> {
  if (!hasColour(sink, env)) return PLAIN;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return { bold: chalk.bold, dim: chalk.dim, good: chalk.green, bad: chalk.red, busy: chalk.cyan };
}

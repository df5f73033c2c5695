import type { Environment } from "../../store/folders.js";
import { columnsOf, unitsThatFit } from "../../text/width.js";
import type { Host, Sink } from "./host.js";

/** Columns of a terminal that does not say how many it has. */
const WIDTH = 80;

const isSet = (value: string | undefined) => value !== undefined && value !== "";
/** Some machines export `CI=false` outside of CI. */
const inCi = (env: Environment) => isSet(env.CI) && env.CI !== "false" && env.CI !== "0";

/** Whether a stream shows things that move. */
export function isLive(sink: Pick<Sink, "isTTY">, env: Environment): boolean {
  return sink.isTTY && env.TERM !== "dumb" && !inCi(env);
}

/** Whether a stream shows colour. `FORCE_COLOR` asks for colour in a pipe. */
export function hasColour(sink: Sink, env: Environment): boolean {
  if (isSet(env.FORCE_COLOR)) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isLive(sink, env) && !isSet(env.NO_COLOR);
}

/** What a result is laid out for. */
export interface ReadingTerminal {
  columns: number;
  colour: boolean;
  hyperlinks: boolean;
}

/** What is known of a terminal. Unlike messages, a result does not follow FORCE_COLOR (contract §6). */
export function readingTerminal(
  { isTTY, stream }: Pick<Sink, "isTTY" | "stream">,
  env: Environment,
): ReadingTerminal {
  const isShown = isLive({ isTTY }, env);
  return {
    columns: stream?.columns || WIDTH,
    colour: isShown && !env.NO_COLOR,
    hyperlinks: isShown && takesHyperlinks(env),
  };
}

/** Terminals that show OSC 8 as a link. Others may print it; tmux and screen, which set TERM, may lose it. */
function takesHyperlinks(env: Environment): boolean {
  const { TERM = "", TERM_PROGRAM = "", VTE_VERSION = "" } = env;
  if (/^(?:screen|tmux)/.test(TERM)) return false;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|rio|Hyper|Tabby)$/.test(TERM_PROGRAM) ||
    /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour|wezterm)/.test(TERM) ||
    // VTE 0.50: the number is 100 times the minor version. Version 0.50.0 itself crashed on a link.
    Number(VTE_VERSION) > 5000 ||
    Boolean(env.WT_SESSION || env.KONSOLE_VERSION || env.DOMTERM)
  );
}

const ESCAPE = "\u001b";
const END = `${ESCAPE}\\`;

/** tmux and screen keep such sequences to themselves, or show them. */
function isInMultiplexer({ TMUX, STY, TERM = "" }: Environment): boolean {
  return Boolean(TMUX || STY) || /^(?:screen|tmux)/.test(TERM);
}

/** OSC 9 or 777 where the terminal is known to take it, else the bell. `text` is ours, without semicolons. */
export function notification(text: string, env: Environment): string {
  const { TERM = "", TERM_PROGRAM = "" } = env;
  if (isInMultiplexer(env)) return "\u0007";
  if (/^(?:iTerm\.app|WezTerm|ghostty)$/.test(TERM_PROGRAM) || /^xterm-(?:kitty|ghostty)/.test(TERM))
    return `${ESCAPE}]9;research: ${text}${END}`;
  if (/^(?:foot|rxvt-unicode)/.test(TERM)) return `${ESCAPE}]777;notify;research;${text}${END}`;
  return "\u0007";
}

/** Whether the terminal shows OSC 9;4 as progress, in its tab or the task bar. Others may take it for a notification. */
export function showsProgress(env: Environment): boolean {
  const { TERM = "", TERM_PROGRAM = "", TERM_PROGRAM_VERSION = "" } = env;
  if (isInMultiplexer(env)) return false;
  if (TERM_PROGRAM === "iTerm.app") return isAtLeast(TERM_PROGRAM_VERSION, [3, 6, 6]);
  return (
    Boolean(env.WT_SESSION) || /^(?:WezTerm|ghostty)$/.test(TERM_PROGRAM) || TERM.startsWith("xterm-ghostty")
  );
}

/** OSC 9;4: `share` in [0, 1], undefined for a wait of unknown length, "over" to take it away. */
export function progress(share: number | undefined | "over"): string {
  const state = share === "over" ? "0;0" : share === undefined ? "3;0" : `1;${Math.round(share * 100)}`;
  return `${ESCAPE}]9;4;${state}${END}`;
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10));
  const first = least.findIndex((wanted, index) => (parts[index] ?? 0) !== wanted);
  return first < 0 || (parts[first] ?? 0) > (least[first] ?? 0);
}

/** Tells a person who looks elsewhere that a wait is over, once, unless a signal of theirs ended it. */
export async function notifyEnd(
  { host, reporter, signal }: { host: Host; reporter: { json: boolean }; signal: AbortSignal },
  text: string,
): Promise<void> {
  if (!host.stderr.isTTY || reporter.json || signal.aborted) return;
  await host.stderr.write(notification(text, host.env)).catch(() => {});
}

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

/** A colour as chalk writes it, or text without one. */
const PARTS = new RegExp(`${ESCAPE}\\[[0-9;]*m|[^${ESCAPE}]+`, "g");

/** Text cut to so many columns of a terminal, an ellipsis at the cut; colours take none and are all kept. */
export function fitColumns(text: string, columns: number): string {
  const parts = text.match(PARTS) ?? [];
  const widthOf = (part: string) => (part.startsWith(ESCAPE) ? 0 : columnsOf(part));
  if (parts.reduce((sum, part) => sum + widthOf(part), 0) <= columns) return text;
  let left = columns - 1;
  let isCut = false;
  const kept = parts.map((part) => {
    if (part.startsWith(ESCAPE)) return part;
    if (isCut) return "";
    const width = columnsOf(part);
    if (width <= left) {
      left -= width;
      return part;
    }
    isCut = true;
    return `${left > 0 ? part.slice(0, unitsThatFit(part, left)) : ""}…`;
  });
  return kept.join("");
}

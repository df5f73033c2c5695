import { untilAborted, withDeadline } from "../../clock.js";
import { isOurs } from "../../machine/errors.js";
import type { Failure } from "../../machine/failure.js";
import { type Environment, localError, systemCode } from "../../store/files.js";
import { safe, safeJson, safeLine } from "../../text/safe-text.js";
import { columnsOf, unitsThatFit } from "../../text/width.js";
import type { Host, Signal, Sink } from "./host.js";

/** Where a command speaks to its user, and hears that it should end. */
export interface Terminal {
  readonly host: Host;
  readonly reporter: Reporter;
  /** Aborted with an Interrupted when the first signal comes. */
  readonly signal: AbortSignal;
}

/** A signal came. `resume` says how to go on where this command ended, `requestId` names its request if it is one. */
export class Interrupted extends Error {
  resume: string | undefined;
  requestId: string | undefined;

  constructor(readonly signal: Signal) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * What signals mean while a command runs: the first one asks it to end and to say how to go on, a second one
 * ends it at once. A hang-up with no terminal on any stream is ignored: that is `nohup`.
 */
export class Interruption {
  readonly #controller = new AbortController();
  /** Aborted with an Interrupted when the first signal comes. */
  readonly signal = this.#controller.signal;
  /** Hears no more signals. */
  readonly release: () => void;
  #received: Signal | undefined;
  #isHandled = false;

  constructor(host: Host) {
    const hasTerminal = host.stdin.isTTY || host.stdout.isTTY || host.stderr.isTTY;
    this.release = host.onSignal((signal) => {
      if (signal === "SIGHUP" && !hasTerminal) return;
      if (this.#received) return host.die(signal);
      this.#received = signal;
      this.#controller.abort(new Interrupted(signal));
    });
  }

  get received(): Signal | undefined {
    return this.#received;
  }

  /** The signal of which the process still has to die. */
  get unhandled(): Signal | undefined {
    return this.#isHandled ? undefined : this.#received;
  }

  /** The command ends in its usual way, so the process need not die of the signal. */
  markHandled(): void {
    this.#isHandled = true;
  }
}

/** The reader of stdout has closed it. */
export class ClosedPipe extends Error {}

/** How long what is said after a signal may take to be read, in milliseconds. */
const FAREWELL_MS = 1_000;

const REDRAW_MS = 1_000;

/** What a live line shows. */
export interface Drawn {
  text: string;
  share?: number | undefined;
}

/** Everything the program says: the result to stdout, messages to stderr, in the form that was asked for. */
export class Reporter {
  #live: LiveLine | undefined;
  #draw: (() => Drawn) | undefined;
  #drawing = new AbortController();
  #errStyle: Style = PLAIN;
  /** The streams whose reader took nothing for a second after a signal: no more is written to them. */
  readonly #stuck = new Set<Sink>();

  /** `signal`: a write that no reader takes is given up when it is aborted. */
  constructor(
    private readonly host: Host,
    readonly json: boolean,
    private readonly signal: AbortSignal,
  ) {
    // A second signal ends the process at once.
    signal.addEventListener("abort", () => this.#live?.clearProgress(), { once: true });
    host.onWarning((warning) => void this.notice("WARNING", warning.message));
  }

  /** The style of stdout, for views. */
  async style(): Promise<Style> {
    return await styleFor(this.host.stdout, this.host.env);
  }

  /** Writes to stdout exactly. Throws ClosedPipe, or LocalError if it could not be written whole. */
  async result(data: string | Uint8Array): Promise<void> {
    const write = async () => {
      try {
        await this.#taken(this.host.stdout, data);
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        if (systemCode(error) === "EPIPE") throw new ClosedPipe();
        throw localError("the result could not be written to stdout", error);
      }
    };
    // On a terminal both streams show in one place, and a result must not land in the live line.
    await (this.#live ? this.#live.aside(write) : write());
  }

  /** One JSON value on a line of stdout. */
  async resultJson(value: unknown): Promise<void> {
    await this.result(`${safeJson(value)}\n`);
  }

  /** The same as JSON or as text, whichever was asked for. */
  async show(value: unknown, text: string): Promise<void> {
    await (this.json ? this.resultJson(value) : this.result(text));
  }

  /** Progress and hints: for people only. */
  async say(text: string): Promise<void> {
    if (!this.json) await this.#toStderr(`${safe(text)}\n`);
  }

  /** Something worth knowing that is not an error: for people and programs. `code` is in capitals. */
  async notice(code: string, message: string): Promise<void> {
    if (this.json) return this.#toStderr(`${safeJson({ notice: { code, message } })}\n`);
    await this.#toStderr(`${this.#errStyle.dim("note:")} ${indented(message)}\n`);
  }

  async error(failure: Failure): Promise<void> {
    if (this.json) return this.#toStderr(`${safeJson({ error: failure })}\n`);
    const style = await styleFor(this.host.stderr, this.host.env);
    const hint = failure.hint ? `${style.dim("hint:")} ${indented(failure.hint)}\n` : "";
    // Ours say no more than the sentence; the service's may be in its documentation, and its support asks for it.
    const code = isOurs(failure.code) ? "" : ` (${safeLine(failure.code)})`;
    await this.#toStderr(`${style.bad("error:")} ${indented(failure.message)}${code}\n${hint}`);
  }

  /**
   * Shows a line that moves, on a terminal and for people only, and draws it anew each second. Returns whether it is
   * shown. `draw` gives its text, and what share of the wait is over (see LiveLine).
   */
  async startLive(draw: () => Drawn): Promise<boolean> {
    if (this.json) return false;
    const line = await liveLine(this.host.stderr, this.host.env);
    if (!line) return false;
    this.#errStyle = await styleFor(this.host.stderr, this.host.env);
    this.#live = line;
    this.#draw = draw;
    void this.#keepDrawing(line);
    return true;
  }

  /** Draws the line now. Nothing moves any more once a signal came. */
  redraw(): void {
    const drawn = this.#draw?.();
    if (drawn && !this.signal.aborted) this.#live?.set(drawn.text, drawn.share);
  }

  stopLive(): void {
    this.#live?.stop();
    this.#live = undefined;
    this.#draw = undefined;
    this.#drawing.abort();
  }

  async #keepDrawing(line: LiveLine): Promise<void> {
    this.#drawing = new AbortController();
    while (this.#live === line) {
      this.redraw();
      await this.host.clock.sleep(REDRAW_MS, this.#drawing.signal).catch(() => {});
    }
  }

  /** A failed write to stderr is ignored: there is no other stream to report it on. */
  async #toStderr(text: string): Promise<void> {
    const write = () => this.#taken(this.host.stderr, text).catch(() => {});
    await (this.#live ? this.#live.aside(write) : write());
  }

  /**
   * Writes, but lets no reader that has stopped reading keep a signal waiting: throws `signal.reason` when that
   * comes, and what is written after it has a second to be taken.
   */
  async #taken(sink: Sink, data: string | Uint8Array): Promise<void> {
    const { signal } = this;
    if (this.#stuck.has(sink)) throw signal.reason;
    const written = sink.write(data);
    const taken = (end: AbortSignal) => untilAborted(written, end);
    // A write that a signal interrupts may still be read, so the stream is not given up yet.
    if (!signal.aborted) return taken(signal);
    const { signal: never } = new AbortController();
    await withDeadline(this.host.clock, FAREWELL_MS, never, signal.reason, taken).catch((error: unknown) => {
      if (error === signal.reason) this.#stuck.add(sink);
      throw error;
    });
  }
}

/** Lines after the first are set off, so that text from outside cannot pass for a line of ours. */
function indented(text: string): string {
  return safe(text).replaceAll("\n", "\n  ");
}

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

/** What a result is laid out for. Unlike messages, a result does not follow FORCE_COLOR (contract §6). */
export function readingTerminal({ isTTY, stream }: Pick<Sink, "isTTY" | "stream">, env: Environment) {
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

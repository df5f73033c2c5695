import type { Failure } from "../../app/describe-failure.js";
import { isOwnCode } from "../../app/errors.js";
import { runWithDeadline, waitUnlessAborted } from "../../core/clock.js";
import { getErrorCode } from "../../core/files/file-access.js";
import { createLocalError } from "../../core/files/local-error.js";
import { escapeLine, escapeText, stringifySafe } from "../../core/text/safe-text.js";
import { wrapAtWords } from "../../core/text/text-width.js";
import type { Host, Sink } from "./host.js";
import { Interrupted } from "./interruption.js";
import type { LiveLine } from "./live-line.js";
import { canShowLiveLine, chooseStyle, getTerminalColumns, type Style } from "./style.js";

/** What a command needs to talk to its user: the host, the reporter and the abort signal. */
export interface Terminal {
  readonly host: Host;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** Thrown by `writeResult` if the reader of stdout has closed the pipe. */
export class ClosedPipeError extends Error {}

/** How long readers may take to accept output after a signal, ms. */
const FAREWELL_MS = 1_000;

const REDRAW_MS = 1_000;

/** Writes all output: the result to stdout, messages to stderr, as text or JSON. */
export class Reporter {
  #live: LiveLine | undefined;
  #draw: (() => string) | undefined;
  #drawing = new AbortController();
  #hasSpoken = false;
  /** The streams whose reader accepted nothing for a second after a signal. Nothing more is written to them. */
  readonly #stuck = new Set<Sink>();

  /** `signal`: when aborted, a write that no reader accepts is given up. */
  constructor(
    private readonly host: Host,
    readonly json: boolean,
    private readonly signal: AbortSignal,
  ) {
    host.onWarning((warning) => void this.writeNotice("WARNING", warning.message));
  }

  async loadStyle(): Promise<Style> {
    return await chooseStyle(this.host.stdout, this.host.env);
  }

  /** The width of stdout in columns; unlimited if it is not a terminal. */
  get columns(): number {
    return this.host.stdout.isTTY ? getTerminalColumns(this.host.stdout) : Number.POSITIVE_INFINITY;
  }

  /** Writes data to stdout unchanged. Throws ClosedPipeError, or LocalError if not all of it could be written. */
  async writeResult(data: string | Uint8Array): Promise<void> {
    const write = async () => {
      try {
        await this.#waitUntilTaken(this.host.stdout, data);
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        if (getErrorCode(error) === "EPIPE") throw new ClosedPipeError();
        throw createLocalError("the result could not be written to stdout", error);
      }
    };
    // On a terminal both streams appear in one place, and a result must not be written into the live line.
    await (this.#live ? this.#live.writeAside(write) : write());
  }

  async writeResultJson(value: unknown): Promise<void> {
    await this.writeResult(`${stringifySafe(value)}\n`);
  }

  /** Writes a result as JSON or as text, depending on --json. */
  async show(value: unknown, text: string): Promise<void> {
    await (this.json ? this.writeResultJson(value) : this.writeResult(text));
  }

  /** Like `show`, but wraps lines on a terminal. */
  async showFitted(value: unknown, text: string): Promise<void> {
    await this.show(value, wrapForTerminal(text, this.host.stdout));
  }

  /** Writes a blank line between messages and the following result, if stderr is a terminal. */
  async writeGap(): Promise<void> {
    if (this.#hasSpoken && this.host.stderr.isTTY) await this.say("");
  }

  /** Prints progress and hints; with --json prints nothing. */
  async say(text: string): Promise<void> {
    if (!this.json) await this.#toStderr(`${escapeText(text)}\n`);
  }

  /** Prints a notice for people and programs. `code` is in capitals. Only programs get `more`. */
  async writeNotice(code: string, message: string, more: object = {}): Promise<void> {
    if (this.json) return this.#toStderr(`${stringifySafe({ notice: { code, message, ...more } })}\n`);
    const { dim } = await chooseStyle(this.host.stderr, this.host.env);
    await this.#toStderr(`${dim("note:")} ${indentText(message)}\n`);
  }

  async writeError(failure: Failure): Promise<void> {
    if (this.json) return this.#toStderr(`${stringifySafe({ error: failure })}\n`);
    const style = await chooseStyle(this.host.stderr, this.host.env);
    const hint = failure.hint ? `${style.dim("hint:")} ${indentText(failure.hint)}\n` : "";
    // Omit our own codes, which add nothing to the sentence. The service's codes may be in its documentation, and its support asks for them.
    const code = isOwnCode(failure.code) ? "" : ` (${escapeLine(failure.code)})`;
    await this.#toStderr(`${style.bad("error:")} ${indentText(failure.message)}${code}\n${hint}`);
  }

  /** Shows a live line and redraws it each second. Returns false if there is none: without a terminal, or with --json. */
  async startLive(draw: () => string): Promise<boolean> {
    if (this.json || !canShowLiveLine(this.host.stderr, this.host.env)) return false;
    const { createLiveLine: liveLine } = await import("./live-line.js");
    const line = await liveLine(this.host.stderr, this.host.env);
    if (!line) return false;
    this.#live = line;
    this.#draw = draw;
    void this.#keepDrawing(line);
    return true;
  }

  /** Draws the live line now, unless a signal has arrived. */
  redraw(): void {
    const drawn = this.#draw?.();
    if (drawn !== undefined && !this.signal.aborted) this.#live?.set(drawn);
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

  /** Writes to stderr. Ignores failures, because there is no other stream to report them on. */
  async #toStderr(text: string): Promise<void> {
    this.#hasSpoken = true;
    const shown = this.json ? text : wrapForTerminal(text, this.host.stderr, 2);
    const write = () => this.#waitUntilTaken(this.host.stderr, shown).catch(() => {});
    await (this.#live ? this.#live.writeAside(write) : write());
  }

  /** Writes data. A signal ends the wait for a slow reader: throws its reason. After a signal, readers have one second to accept output. */
  async #waitUntilTaken(sink: Sink, data: string | Uint8Array): Promise<void> {
    const { signal } = this;
    if (this.#stuck.has(sink)) throw signal.reason;
    const written = sink.write(data);
    const waitUntilWritten = (end: AbortSignal) => waitUnlessAborted(written, end);
    // When a signal interrupts a write, the reader may still accept it, so the stream is not given up yet.
    if (!signal.aborted) return waitUntilWritten(signal);
    const { signal: never } = new AbortController();
    await runWithDeadline(this.host.clock, FAREWELL_MS, never, signal.reason, waitUntilWritten).catch(
      (error: unknown) => {
        if (error === signal.reason) this.#stuck.add(sink);
        throw error;
      },
    );
  }
}

/** Wraps lines for a terminal (see `fold`); returns the text unchanged for other streams. */
export function wrapForTerminal(text: string, sink: Sink, hang = 0): string {
  return sink.isTTY ? wrapAtWords(text, getTerminalColumns(sink), hang) : text;
}

/** Escapes text and indents all lines but the first, so that text from outside cannot look like a line of ours. */
function indentText(text: string): string {
  return escapeText(text).replaceAll("\n", "\n  ");
}

import { isOurs } from "../../app/errors.js";
import type { Failure } from "../../app/failure.js";
import { runWithDeadline, waitUnlessAborted } from "../../core/clock.js";
import { getSystemCode } from "../../core/files/files.js";
import { createLocalError } from "../../core/files/local-error.js";
import { escapeLine, escapeText, stringifySafe } from "../../core/text/safe-text.js";
import { fold } from "../../core/text/width.js";
import type { Host, Sink } from "./host.js";
import { Interrupted } from "./interruption.js";
import type { LiveLine } from "./live-line.js";
import { chooseStyle, isLive, measureColumnsOn, type Style } from "./style.js";

/** Where a command speaks to its user, and hears that it should end. */
export interface Terminal {
  readonly host: Host;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** The reader of stdout has closed it. */
export class ClosedPipe extends Error {}

/** How long what is said after a signal may take to be read, in milliseconds. */
const FAREWELL_MS = 1_000;

const REDRAW_MS = 1_000;

/** Everything the program says: the result to stdout, messages to stderr, in the form that was asked for. */
export class Reporter {
  #live: LiveLine | undefined;
  #draw: (() => string) | undefined;
  #drawing = new AbortController();
  #hasSpoken = false;
  /** The streams whose reader took nothing for a second after a signal: no more is written to them. */
  readonly #stuck = new Set<Sink>();

  /** `signal`: a write that no reader takes is given up when it is aborted. */
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

  /** How wide a line of stdout may be: any width where it is no terminal. */
  get columns(): number {
    return this.host.stdout.isTTY ? measureColumnsOn(this.host.stdout) : Number.POSITIVE_INFINITY;
  }

  /** Writes to stdout exactly. Throws ClosedPipe, or LocalError if it could not be written whole. */
  async writeResult(data: string | Uint8Array): Promise<void> {
    const write = async () => {
      try {
        await this.#waitUntilTaken(this.host.stdout, data);
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        if (getSystemCode(error) === "EPIPE") throw new ClosedPipe();
        throw createLocalError("the result could not be written to stdout", error);
      }
    };
    // On a terminal both streams show in one place, and a result must not land in the live line.
    await (this.#live ? this.#live.writeAside(write) : write());
  }

  async writeResultJson(value: unknown): Promise<void> {
    await this.writeResult(`${stringifySafe(value)}\n`);
  }

  /** The same as JSON or as text, whichever was asked for. */
  async show(value: unknown, text: string): Promise<void> {
    await (this.json ? this.writeResultJson(value) : this.writeResult(text));
  }

  /** The same on a terminal in lines of its width. */
  async showFitted(value: unknown, text: string): Promise<void> {
    await this.show(value, fitText(text, this.host.stdout));
  }

  /** Parts a result from what was said above it, on a terminal that both streams share. */
  async writeGap(): Promise<void> {
    if (this.#hasSpoken && this.host.stderr.isTTY) await this.say("");
  }

  /** Progress and hints: for people only. */
  async say(text: string): Promise<void> {
    if (!this.json) await this.#toStderr(`${escapeText(text)}\n`);
  }

  /** Something worth knowing that is not an error: for people and programs. `code` is in capitals, `more` for programs. */
  async writeNotice(code: string, message: string, more: object = {}): Promise<void> {
    if (this.json) return this.#toStderr(`${stringifySafe({ notice: { code, message, ...more } })}\n`);
    const { dim } = await chooseStyle(this.host.stderr, this.host.env);
    await this.#toStderr(`${dim("note:")} ${indentText(message)}\n`);
  }

  async writeError(failure: Failure): Promise<void> {
    if (this.json) return this.#toStderr(`${stringifySafe({ error: failure })}\n`);
    const style = await chooseStyle(this.host.stderr, this.host.env);
    const hint = failure.hint ? `${style.dim("hint:")} ${indentText(failure.hint)}\n` : "";
    // Ours say no more than the sentence; the service's may be in its documentation, and its support asks for it.
    const code = isOurs(failure.code) ? "" : ` (${escapeLine(failure.code)})`;
    await this.#toStderr(`${style.bad("error:")} ${indentText(failure.message)}${code}\n${hint}`);
  }

  /** Shows a line that moves, drawn each second, on a terminal and for people only. Returns whether it is shown. */
  async startLive(draw: () => string): Promise<boolean> {
    if (this.json || !isLive(this.host.stderr, this.host.env)) return false;
    const { liveLine } = await import("./live-line.js");
    const line = await liveLine(this.host.stderr, this.host.env);
    if (!line) return false;
    this.#live = line;
    this.#draw = draw;
    void this.#keepDrawing(line);
    return true;
  }

  /** Draws the line now. Nothing moves any more once a signal came. */
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

  /** A failed write to stderr is ignored: there is no other stream to report it on. */
  async #toStderr(text: string): Promise<void> {
    this.#hasSpoken = true;
    const shown = this.json ? text : fitText(text, this.host.stderr, 2);
    const write = () => this.#waitUntilTaken(this.host.stderr, shown).catch(() => {});
    await (this.#live ? this.#live.writeAside(write) : write());
  }

  /** Keeps no signal waiting for a reader: throws `signal.reason`, and what is written after it has a second to be taken. */
  async #waitUntilTaken(sink: Sink, data: string | Uint8Array): Promise<void> {
    const { signal } = this;
    if (this.#stuck.has(sink)) throw signal.reason;
    const written = sink.write(data);
    const waitUntilWritten = (end: AbortSignal) => waitUnlessAborted(written, end);
    // A write that a signal interrupts may still be read, so the stream is not given up yet.
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

/** Text for people: on a terminal in lines of its width, see `fold`. */
export function fitText(text: string, sink: Sink, hang = 0): string {
  return sink.isTTY ? fold(text, measureColumnsOn(sink), hang) : text;
}

/** Lines after the first are set off, so that text from outside cannot pass for a line of ours. */
function indentText(text: string): string {
  return escapeText(text).replaceAll("\n", "\n  ");
}

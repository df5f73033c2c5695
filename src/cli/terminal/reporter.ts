import { untilAborted } from "../../abort.js";
import { withDeadline } from "../../clock.js";
import { isOurs } from "../../machine/errors.js";
import type { Failure } from "../../machine/failure.js";
import { inWords, LocalError, systemCode } from "../../store/errors.js";
import { safe, safeJson, safeLine } from "../../text/safe-text.js";
import { ClosedPipe, Interrupted } from "../errors.js";
import type { Host, Sink } from "./host.js";
import { type LiveLine, liveLine, PLAIN, type Style, styleFor } from "./style.js";

/** Where a command speaks to its user, and hears that it should end. */
export interface Terminal {
  readonly host: Host;
  readonly reporter: Reporter;
  /** Aborted with an Interrupted when the first signal comes. */
  readonly signal: AbortSignal;
}

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
  readonly json: boolean;
  readonly #host: Host;
  readonly #signal: AbortSignal;
  #live: LiveLine | undefined;
  #draw: (() => Drawn) | undefined;
  #drawing = new AbortController();
  #errStyle: Style = PLAIN;
  /** The streams whose reader has stopped for so long that no write to them is waited for. */
  readonly #stuck = new Set<Sink>();

  /** `signal`: a write that no reader takes is given up when it is aborted. */
  constructor(host: Host, json: boolean, signal: AbortSignal) {
    this.#host = host;
    this.json = json;
    this.#signal = signal;
    // A second signal ends the process at once.
    signal.addEventListener("abort", () => this.#live?.clearProgress(), { once: true });
    host.onWarning((warning) => void this.notice("WARNING", warning.message));
  }

  /** The style of stdout, for views. */
  async style(): Promise<Style> {
    return await styleFor(this.#host.stdout, this.#host.env);
  }

  /** Writes to stdout exactly. Throws ClosedPipe, or LocalError if it could not be written whole. */
  async result(data: string | Uint8Array): Promise<void> {
    const write = async () => {
      try {
        await this.#taken(this.#host.stdout, data);
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        if (systemCode(error) === "EPIPE") throw new ClosedPipe();
        throw new LocalError(`the result could not be written to stdout: ${inWords(error)}`, {
          cause: error,
        });
      }
    };
    // On a terminal both streams show in one place, and a result must not land in the live line.
    await (this.#live ? this.#live.aside(write) : write());
  }

  /** One JSON value on a line of stdout. */
  async resultJson(value: unknown): Promise<void> {
    await this.result(`${safeJson(value)}\n`);
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
    const style = await styleFor(this.#host.stderr, this.#host.env);
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
    const line = await liveLine(this.#host.stderr, this.#host.env);
    if (!line) return false;
    this.#errStyle = await styleFor(this.#host.stderr, this.#host.env);
    this.#live = line;
    this.#draw = draw;
    void this.#keepDrawing(line);
    return true;
  }

  /** Draws the line now. Nothing moves any more once a signal came. */
  redraw(): void {
    const drawn = this.#draw?.();
    if (drawn && !this.#signal.aborted) this.#live?.set(drawn.text, drawn.share);
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
      await this.#host.clock.sleep(REDRAW_MS, this.#drawing.signal).catch(() => {});
    }
  }

  /** A failed write to stderr is ignored: there is no other stream to report it on. */
  async #toStderr(text: string): Promise<void> {
    const write = () => this.#taken(this.#host.stderr, text).catch(() => {});
    await (this.#live ? this.#live.aside(write) : write());
  }

  /**
   * Writes, but lets no reader that has stopped reading keep a signal waiting: throws `signal.reason` when that
   * comes, and what is written after it has a second to be taken.
   */
  async #taken(sink: Sink, data: string | Uint8Array): Promise<void> {
    const signal = this.#signal;
    if (signal.aborted && this.#stuck.has(sink)) signal.throwIfAborted();
    const written = sink.write(data);
    const taken = (end: AbortSignal) => untilAborted(written, end);
    const { signal: never } = new AbortController();
    const farewell = () => withDeadline(this.#host.clock, FAREWELL_MS, never, signal.reason, taken);
    await (signal.aborted ? farewell() : taken(signal)).catch((error: unknown) => {
      if (error === signal.reason) this.#stuck.add(sink);
      throw error;
    });
  }
}

/** Lines after the first are set off, so that text from outside cannot pass for a line of ours. */
function indented(text: string): string {
  return safe(text).replaceAll("\n", "\n  ");
}

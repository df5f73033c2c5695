import { inWords, LocalError, systemCode } from "../store/errors.js";
import { ClosedPipe, Interrupted } from "./errors.js";
import type { Failure } from "./failure.js";
import type { Host } from "./host.js";
import { safe, safeJson } from "./safe-text.js";
import { type LiveLine, liveLine, PLAIN, type Style, styleFor } from "./terminal.js";

/** Everything the program says: the result to stdout, the conversation to stderr, in the form that was asked for. */
export class Reporter {
  readonly json: boolean;
  readonly #host: Host;
  readonly #signal: AbortSignal;
  #live: LiveLine | undefined;
  #errStyle: Style = PLAIN;

  /** `signal`: a result that nobody takes is given up when it is aborted. */
  constructor(host: Host, json: boolean, signal: AbortSignal) {
    this.#host = host;
    this.json = json;
    this.#signal = signal;
    host.onWarning((warning) => void this.notice("WARNING", warning.message));
  }

  /** The style of stdout, for views. */
  async style(): Promise<Style> {
    return await styleFor(this.#host.stdout, this.#host.env);
  }

  /** Writes to stdout exactly. Throws ClosedPipe, or LocalError where it could not be written whole. */
  async result(data: string | Uint8Array): Promise<void> {
    const write = async () => {
      try {
        await this.#unlessInterrupted(this.#host.stdout.write(data));
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

  /** Something worth knowing that is no error: for people and programs. `code` is in capitals. */
  async notice(code: string, message: string): Promise<void> {
    if (this.json) return this.#toStderr(`${safeJson({ notice: { code, message } })}\n`);
    await this.#toStderr(`${this.#errStyle.dim("note:")} ${indented(message)}\n`);
  }

  async error(failure: Failure): Promise<void> {
    if (this.json) return this.#toStderr(`${safeJson({ error: failure })}\n`);
    const style = await styleFor(this.#host.stderr, this.#host.env);
    const hint = failure.hint ? `${style.dim("hint:")} ${indented(failure.hint)}\n` : "";
    await this.#toStderr(`${style.bad("error:")} ${indented(failure.message)}\n${hint}`);
  }

  /** Shows a line that moves, on a terminal and for people only. Returns whether it is shown. */
  async startLive(): Promise<boolean> {
    if (!this.json) this.#live ??= await liveLine(this.#host.stderr, this.#host.env);
    if (this.#live) this.#errStyle = await styleFor(this.#host.stderr, this.#host.env);
    return this.#live !== undefined;
  }

  live(text: string): void {
    this.#live?.set(text);
  }

  stopLive(): void {
    this.#live?.stop();
    this.#live = undefined;
  }

  /** A reader that has stopped reading must not keep a signal waiting. What is written after one is waited for. */
  async #unlessInterrupted(written: Promise<void>): Promise<void> {
    if (this.#signal.aborted) return written;
    let abort = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = () => reject(this.#signal.reason);
      this.#signal.addEventListener("abort", abort, { once: true });
    });
    await Promise.race([written, aborted]).finally(() => this.#signal.removeEventListener("abort", abort));
  }

  /** Trouble with stderr is nobody's business: there is nowhere left to tell it. */
  async #toStderr(text: string): Promise<void> {
    const write = () => this.#host.stderr.write(text).catch(() => {});
    await (this.#live ? this.#live.aside(write) : write());
  }
}

/** Lines after the first are set off, so that text from outside cannot pass for a line of ours. */
function indented(text: string): string {
  return safe(text).replaceAll("\n", "\n  ");
}

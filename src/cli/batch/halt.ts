import { ClosedPipe } from "../errors.js";
import { failureOf } from "../failure.js";
import type { Report } from "./report.js";

/** So many rows came to nothing that no more are to be sent. */
class TooManyFailures extends Error {}

/** What ends a batch, or the sending in it while what runs is seen to its end. */
export class Halt {
  /** Aborted when everything is to end. */
  readonly batch: AbortSignal;
  /** Aborted when nothing more is to be sent. */
  readonly sending: AbortSignal;
  readonly #interruption: AbortSignal;
  readonly #maxFailures: number;
  readonly #all = new AbortController();
  readonly #sending = new AbortController();
  #exitCode = 0;

  constructor(interruption: AbortSignal, maxFailures = Number.POSITIVE_INFINITY) {
    this.#interruption = interruption;
    this.#maxFailures = maxFailures;
    this.batch = AbortSignal.any([interruption, this.#all.signal]);
    this.sending = AbortSignal.any([this.batch, this.#sending.signal]);
  }

  /** That of the error which ended the sending; 0 where none did. */
  get exitCode(): number {
    return this.#exitCode;
  }

  /** Notes how many rows came to nothing. */
  failed(failures: number): void {
    if (failures < this.#maxFailures) return;
    const what = failures === 1 ? "1 row has" : `${failures} rows have`;
    this.#sending.abort(new TooManyFailures(`${what} come to nothing (--max-failures): no more are sent`));
  }

  stopSending(error: unknown): void {
    this.#sending.abort(error);
  }

  /** Says why sending has ended, with the command that goes on. Throws what ends the batch as a whole. */
  async say(error: unknown, report: Report, again: string): Promise<void> {
    if (error instanceof TooManyFailures) return report.notice("MAX_FAILURES", error.message);
    const failure = failureOf(error);
    if (this.batch.aborted || error instanceof ClosedPipe || failure.code === "INTERNAL") throw error;
    this.#exitCode = failure.exit_code;
    const before = failure.hint ? `${failure.hint} ` : "";
    await report.error(error, {
      hint: `${before}What runs is watched to its end. Then go on with: ${again}`,
    });
  }

  /** Waits for all of them; the first that fails ends the others. Throws what ended them. */
  async all(works: readonly Promise<void>[]): Promise<void> {
    const ended = works.map((work) => work.catch((error) => this.#all.abort(error)));
    await Promise.all(ended);
    this.#interruption.throwIfAborted();
    this.#all.signal.throwIfAborted();
  }
}

import {
  countsText,
  liveBatch,
  type Outlook,
  progressText,
  rowChange,
  rowJson,
  rowLine,
  summaryJson,
  wordOf,
} from "../commands/batch/view.js";
import type { Context } from "../context.js";
import type { Failure } from "../failure.js";
import { failureOf } from "../failure.js";
import { formatDuration, isoDate } from "../terminal/durations.js";
import { PLAIN, type Style, styleFor } from "../terminal/style.js";
import type { Board } from "./board.js";
import type { RowState } from "./plan.js";

const REDRAW_MS = 1_000;
/** A pause between two creates is announced when it is longer than this, in milliseconds. */
const SILENT_PAUSE_MS = 5_000;

/** Says what happens in a batch, in the form that was asked for. */
export class Report {
  readonly #ctx: Context;
  readonly #board: Board;
  readonly #outlook: () => Outlook;
  readonly #start: number;
  /** The last word said of each row that still runs. */
  readonly #said = new Map<RowState, string>();
  #redraw: NodeJS.Timeout | undefined;
  #isLive = false;
  #style: Style = PLAIN;

  constructor(ctx: Context, board: Board, outlook: () => Outlook) {
    this.#ctx = ctx;
    this.#board = board;
    this.#outlook = outlook;
    this.#start = ctx.host.clock.monotonic();
  }

  async begin(): Promise<void> {
    const { reporter, host } = this.#ctx;
    this.#isLive = await reporter.startLive();
    if (!this.#isLive) return;
    this.#style = await styleFor(host.stderr, host.env);
    this.#draw();
    this.#redraw = setInterval(() => this.#draw(), REDRAW_MS);
  }

  end(): void {
    clearInterval(this.#redraw);
    this.#ctx.reporter.stopLive();
  }

  /** A row has changed; `final` where it is done with for good. */
  async changed(state: RowState, final: boolean): Promise<void> {
    const { reporter, host } = this.#ctx;
    const previous = this.#said.get(state) ?? null;
    const isOver = final || state.error !== undefined;
    if (isOver) this.#said.delete(state);
    else this.#said.set(state, wordOf(state));
    if (this.#isLive) this.#draw();
    else await reporter.say(rowChange(state, this.#board.counts));
    if (reporter.json) {
      const elapsedMs = host.clock.monotonic() - this.#start;
      await reporter.resultJson(rowJson(state, { previous, final, at: host.clock.now(), elapsedMs }));
    } else if (isOver) await reporter.result(`${rowLine(state, PLAIN)}\n`);
  }

  /** Nothing is sent before `until` (epoch ms). */
  async pausing(why: string, until: number): Promise<void> {
    const waitMs = until - this.#ctx.host.clock.now();
    if (waitMs <= SILENT_PAUSE_MS) return;
    await this.notice(
      "WAITING_FOR_QUOTA",
      `${why}; nothing is sent for ${formatDuration(waitMs)}, until ${isoDate(until)}`,
    );
  }

  async notice(code: string, message: string): Promise<void> {
    await this.#ctx.reporter.notice(code, message);
  }

  async error(error: unknown, facts: Partial<Failure> = {}): Promise<void> {
    await this.#ctx.reporter.error({ ...failureOf(error), ...facts });
  }

  /** A word where nothing has changed for long. */
  async unchanged(): Promise<void> {
    if (!this.#isLive)
      await this.#ctx.reporter.say(
        `still at it: ${progressText(this.#board.counts, this.#outlook(), this.#ctx.host.clock.now(), PLAIN)}`,
      );
  }

  async summary(exitCode: number): Promise<void> {
    const { reporter } = this.#ctx;
    this.end();
    if (reporter.json) await reporter.resultJson(summaryJson(this.#board.counts, exitCode));
    else await reporter.say(countsText(this.#board.counts, PLAIN));
    await this.#sayWhatToDo();
  }

  async #sayWhatToDo(): Promise<void> {
    const { reporter } = this.#ctx;
    const { counts, states } = this.#board;
    const [unknown, ...others] = states.filter(({ standing }) => standing === "unknown");
    if (unknown) {
      const more = others.length > 0 ? ` (and ${others.length} more: research list --status UNKNOWN)` : "";
      const settle = unknown.localId
        ? `settle it with: research resolve ${unknown.localId} --request-id ID, or --not-created${more}; `
        : "";
      await reporter.say(`an unknown outcome is held: ${settle}--resend-unknown sends it again`);
    }
    if (counts.failed + counts.refused > 0)
      await reporter.say("--retry-failed sends again what failed or was refused");
  }

  #draw(): void {
    if (!this.#isLive) return;
    const { reporter, host } = this.#ctx;
    reporter.live(liveBatch(this.#board.counts, this.#outlook(), host.clock.now(), this.#style));
  }
}

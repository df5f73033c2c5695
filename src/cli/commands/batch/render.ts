import type { Failure } from "../../../machine/failure.js";
import { failureOf } from "../../../machine/failure.js";
import { formatDuration, isoDate } from "../../../text/duration.js";
import type { Batch } from "../../../workflows/batch/batch.js";
import type { BatchEvent } from "../../../workflows/batch/events.js";
import { type RowState, stateWord } from "../../../workflows/batch/plan.js";
import { stuckText } from "../../requests/progress-text.js";
import { dollars } from "../../requests/status-text.js";
import type { Host } from "../../terminal/host.js";
import type { Reporter } from "../../terminal/reporter.js";
import { PLAIN, type Style, styleFor } from "../../terminal/style.js";
import { lessonText, named, notSavedText, troubleText } from "./event-text.js";
import { countsText, liveBatch, progressText, rowChange, rowJson, rowLine, summaryJson } from "./view.js";

const REDRAW_MS = 1_000;
/** A longer wait is announced, in milliseconds (contract §5). */
const SILENT_WAIT_MS = 5_000;

export interface RendererParts {
  batch: Batch;
  reporter: Reporter;
  host: Host;
  /** The command that goes on where this one ends. */
  resume: string;
  /** How long a run usually takes, in words; undefined if too few are known. */
  usual: string | undefined;
}

/** Shows the events of a batch in the form that was asked for: a live line, lines, or JSON. */
export class BatchRenderer {
  readonly #parts: RendererParts;
  readonly #start: number;
  /** The last state shown of each row that runs. */
  readonly #shown = new Map<RowState, string>();
  readonly #redrawing = new AbortController();
  #isLive = false;
  #style: Style = PLAIN;
  #exitCode = 0;

  constructor(parts: RendererParts) {
    this.#parts = parts;
    this.#start = parts.host.clock.monotonic();
  }

  /** The exit code of the error that ended the creates; 0 if none did. */
  get exitCode(): number {
    return this.#exitCode;
  }

  async begin(): Promise<void> {
    const { reporter, host } = this.#parts;
    this.#isLive = await reporter.startLive();
    if (!this.#isLive) return;
    this.#style = await styleFor(host.stderr, host.env);
    void this.#redraw();
  }

  end(): void {
    this.#redrawing.abort();
    this.#parts.reporter.stopLive();
  }

  /** Shows one event. Rejects if stdout cannot be written. */
  async show(event: BatchEvent): Promise<void> {
    const { reporter } = this.#parts;
    switch (event.kind) {
      case "row":
        return this.#row(event.state, event.final);
      case "create-failed":
        return this.#error(event.error, { message: named(event.state, failureOf(event.error).message) });
      case "row-left":
        return this.#error(event.error, {
          message: named(event.state, failureOf(event.error).message),
          request_id: event.state.requestId,
        });
      case "not-saved":
        return reporter.notice("NOT_SAVED", named(event.state, notSavedText(event)));
      case "schema-mismatch":
        return reporter.notice("SCHEMA_MISMATCH", named(event.state, event.message));
      case "waiting-for-quota":
        return this.#waiting(event.until);
      case "limit-learned":
        return reporter.notice("LIMIT_LEARNED", lessonText(event.lesson));
      case "trouble":
        return reporter.notice("TROUBLE", troubleText(event));
      case "recovered":
        return reporter.notice("RECOVERED", "the service answers again");
      case "asked-to-wait":
        if (event.waitMs <= SILENT_WAIT_MS) return;
        return reporter.notice("WAITING", `the service asked to wait ${formatDuration(event.waitMs)}`);
      case "stuck":
        return reporter.notice("STUCK", stuckText(event));
      case "unchanged":
        return this.#unchanged();
      case "history-not-updated":
        return reporter.notice("HISTORY_NOT_UPDATED", event.error.message);
      case "creates-stopped":
        return this.#createsStopped(event.reason);
      default:
        return event satisfies never;
    }
  }

  /** The last words: how many rows stand where, and what can be done about those that failed. */
  async summary(exitCode: number): Promise<void> {
    const { reporter, batch } = this.#parts;
    this.end();
    const { counts } = batch.progress;
    const { costDollars } = batch.progress;
    if (reporter.json) await reporter.resultJson(summaryJson(counts, exitCode, costDollars));
    else {
      const usual =
        this.#parts.usual === undefined
          ? ""
          : `; a run ${this.#parts.usual.replace("usually", "usually takes")}`;
      const tookMs = this.#parts.host.clock.monotonic() - this.#start;
      const cost = costDollars === undefined ? "" : `; it cost ${dollars(costDollars)}`;
      await reporter.say(`${countsText(counts, PLAIN)}; it took ${formatDuration(tookMs)}${usual}${cost}`);
    }
    await this.#sayNextSteps();
  }

  async #row(state: RowState, final: boolean): Promise<void> {
    const { reporter, host, batch } = this.#parts;
    const previous = this.#shown.get(state) ?? null;
    const isOver = final || state.error !== undefined;
    if (isOver) this.#shown.delete(state);
    else this.#shown.set(state, stateWord(state));
    if (this.#isLive) this.#draw();
    else await reporter.say(rowChange(state, batch.progress.counts));
    if (reporter.json) {
      const elapsedMs = host.clock.monotonic() - this.#start;
      await reporter.resultJson(rowJson(state, { previous, final, at: host.clock.now(), elapsedMs }));
    } else if (isOver) await reporter.result(`${rowLine(state, PLAIN)}\n`);
  }

  async #waiting(until: number): Promise<void> {
    const { host, reporter } = this.#parts;
    const waitMs = until - host.clock.now();
    if (waitMs <= SILENT_WAIT_MS) return;
    const wait = `nothing is sent for ${formatDuration(waitMs)}, until ${isoDate(until)}`;
    await reporter.notice("WAITING_FOR_QUOTA", `the hourly limit is reached; ${wait}`);
  }

  async #unchanged(): Promise<void> {
    if (this.#isLive) return;
    const { batch, reporter, host } = this.#parts;
    const progress = progressText(batch.progress.counts, batch.outlook, host.clock.now(), PLAIN);
    await reporter.say(`no change: ${progress}`);
  }

  async #createsStopped(reason: { failures: number } | { error: unknown }): Promise<void> {
    if ("failures" in reason) {
      const rows = reason.failures === 1 ? "1 row has" : `${reason.failures} rows have`;
      return this.#parts.reporter.notice(
        "MAX_FAILURES",
        `${rows} failed, which --max-failures allows; no more are sent`,
      );
    }
    const { exit_code, hint } = failureOf(reason.error);
    this.#exitCode = exit_code;
    const next = `What runs is watched to its end. Then go on with: ${this.#parts.resume}`;
    await this.#error(reason.error, { hint: hint ? `${hint} ${next}` : next });
  }

  async #error(error: unknown, facts: Partial<Failure>): Promise<void> {
    await this.#parts.reporter.error({ ...failureOf(error), ...facts });
  }

  async #sayNextSteps(): Promise<void> {
    const { reporter, batch } = this.#parts;
    const { counts, states } = batch.progress;
    const [unknown, ...others] = states.filter(({ standing }) => standing === "unknown");
    if (unknown) {
      const rows = others.length > 0 ? `${others.length + 1} rows have` : "1 row has";
      const were = others.length > 0 ? "were" : "was";
      const more = others.length > 0 ? ` (all: research list --status UNKNOWN)` : "";
      const settle = unknown.localId
        ? `settle it with: research resolve ${unknown.localId} --request-id ID, or --not-created${more}; `
        : "";
      await reporter.say(
        `${rows} an unknown outcome and ${were} not sent again: ${settle}--resend-unknown sends again and may create duplicates`,
      );
    }
    const parts = states.filter(({ standing, cutShort }) => standing === "failed" && cutShort).length;
    if (parts > 0)
      await reporter.say(
        `${parts} cut short: \`research output --partial ID\` prints one, --retry-partial sends again`,
      );
    if (counts.failed - parts + counts.refused > 0)
      await reporter.say("--retry-failed sends again what failed or was refused");
  }

  async #redraw(): Promise<void> {
    const { signal } = this.#redrawing;
    while (!signal.aborted) {
      this.#draw();
      await this.#parts.host.clock.sleep(REDRAW_MS, signal).catch(() => {});
    }
  }

  #draw(): void {
    if (!this.#isLive) return;
    const { reporter, host, batch, usual } = this.#parts;
    const line = liveBatch(batch.progress.counts, batch.outlook, host.clock.now(), this.#style);
    const { counts, states } = batch.progress;
    const share = 1 - (counts.running + counts.waiting) / Math.max(states.length, 1);
    reporter.live(usual === undefined ? line : `${line} (a run: ${usual})`, share);
  }
}

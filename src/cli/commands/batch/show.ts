import { join } from "node:path";
import { ROW_FORMS } from "../../../machine/batch.js";
import { EXIT_CODES } from "../../../machine/errors.js";
import { type Failure, failureOf } from "../../../machine/failure.js";
import { formatDuration, isoDate } from "../../../text/duration.js";
import { dollars } from "../../../text/research-progress.js";
import { Batch } from "../../../workflows/batch/batch.js";
import type { BatchJob, BatchRunEvent } from "../../../workflows/batch/context.js";
import { type RowState, stateWord } from "../../../workflows/batch/plan.js";
import type { Ports } from "../../../workflows/ports.js";
import { SILENT_WAIT_MS } from "../../context.js";
import { commandFailure } from "../../errors.js";
import { worstOf } from "../../requests/answers.js";
import { OnDone } from "../../requests/on-done.js";
import { stuckText, usualLengthText } from "../../requests/progress-text.js";
import { limitWords } from "../../requests/submit.js";
import type { Host } from "../../terminal/host.js";
import {
  ClosedPipe,
  Interrupted,
  notifyEnd,
  PLAIN,
  type Reporter,
  type Style,
  styleFor,
  type Terminal,
} from "../../terminal/reporter.js";
import type { NotifyOptions, OnDoneOptions, PaceOptions } from "../definition.js";
import {
  countsText,
  lessonText,
  liveBatch,
  named,
  notSavedText,
  progressText,
  rowChange,
  rowJson,
  rowLine,
  summaryJson,
  troubleText,
} from "./view.js";

export interface ShowOptions extends OnDoneOptions, NotifyOptions, PaceOptions {
  maxFailures?: number;
}

/**
 * Runs a batch and shows what happens. Returns the exit code; throws Interrupted with `resume`, the command that goes
 * on.
 */
export async function showBatch(
  terminal: Terminal,
  ports: Ports,
  job: BatchJob,
  { onDone, notify: isNotified, ...options }: ShowOptions,
  resume: string,
): Promise<number> {
  const done = OnDone.of(terminal, onDone);
  const batch = new Batch(ports, job, {
    ...options,
    signal: terminal.signal,
    ...ROW_FORMS,
    announces: done !== undefined,
  });
  const announce = (state: RowState) => {
    const { requestId = "", status, file } = state;
    const path = file && join(job.folder.path, file);
    done?.run({ requestId, status: status ?? "", file: path }, () => batch.announced(state));
  };
  const renderer = new BatchRenderer({
    ...{ batch, reporter: terminal.reporter, host: terminal.host, resume },
    ...{ usual: usualLengthText(ports), limit: limitWords(ports) },
  });
  await renderer.begin();
  try {
    job.states.filter((state) => state.announce === "pending").forEach(announce);
    for await (const event of batch.run()) {
      if (event.kind === "row" && event.final && event.state.announce === "pending") announce(event.state);
      await renderer.show(event);
    }
    const code = worstOf([...batch.progress.states.map(exitCodeOf), renderer.exitCode]);
    const exitCode = done ? await done.settle(code) : code;
    await renderer.summary(exitCode);
    return exitCode;
  } catch (error) {
    if (error instanceof ClosedPipe) return EXIT_CODES.NOT_FINISHED;
    if (error instanceof Interrupted) {
      error.resume = `what runs goes on; go on with: ${resume}`;
      await renderer.summary(commandFailure(error).exit_code).catch(() => {});
    }
    throw error;
  } finally {
    renderer.end();
    const { counts, states } = batch.progress;
    const open = counts.running + counts.waiting;
    if (isNotified) await notifyEnd(terminal, `${states.length - open} of ${states.length} rows have ended`);
  }
}

/** What a row alone means for the exit code. */
function exitCodeOf({ standing, error }: RowState): number {
  switch (standing) {
    case "done":
      return 0;
    case "failed":
      return EXIT_CODES.RESEARCH_FAILED;
    case "stopped":
      return EXIT_CODES.RESEARCH_STOPPED;
    case "unknown":
      return EXIT_CODES.OUTCOME_UNKNOWN;
    default:
      return error?.exit_code ?? EXIT_CODES.NOT_FINISHED;
  }
}

export interface RendererParts {
  batch: Batch;
  reporter: Reporter;
  host: Host;
  /** The command that goes on where this one ends. */
  resume: string;
  /** How long a run usually takes, in words; undefined if too few are known. */
  usual: string | undefined;
  /** Why no create is sent while it waits, in words. */
  limit: string;
}

/** Shows the events of a batch in the form that was asked for: a live line, lines, or JSON. */
export class BatchRenderer {
  readonly #start: number;
  /** The last state shown of each row that runs. */
  readonly #shown = new Map<RowState, string>();
  #isLive = false;
  #style: Style = PLAIN;
  #exitCode = 0;

  constructor(private readonly parts: RendererParts) {
    this.#start = parts.host.clock.monotonic();
  }

  /** The exit code of the error that ended the creates; 0 if none did. */
  get exitCode(): number {
    return this.#exitCode;
  }

  async begin(): Promise<void> {
    const { reporter, host } = this.parts;
    this.#style = await styleFor(host.stderr, host.env);
    this.#isLive = await reporter.startLive(() => this.#drawn());
  }

  end(): void {
    this.parts.reporter.stopLive();
  }

  /** Shows one event. Rejects if stdout cannot be written. */
  async show(event: BatchRunEvent): Promise<void> {
    const { reporter } = this.parts;
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
    const { reporter, batch } = this.parts;
    this.end();
    const { counts, costDollars } = batch.progress;
    if (reporter.json) await reporter.resultJson(summaryJson(counts, exitCode, costDollars));
    else {
      const usual = this.parts.usual ? `; a run ${this.parts.usual.replace("usually", "usually takes")}` : "";
      const tookMs = this.parts.host.clock.monotonic() - this.#start;
      const cost = costDollars === undefined ? "" : `; it cost ${dollars(costDollars)}`;
      await reporter.say(`${countsText(counts, PLAIN)}; it took ${formatDuration(tookMs)}${usual}${cost}`);
    }
    await this.#sayNextSteps();
  }

  async #row(state: RowState, final: boolean): Promise<void> {
    const { reporter, host, batch } = this.parts;
    const previous = this.#shown.get(state) ?? null;
    const isOver = final || state.error !== undefined;
    if (isOver) this.#shown.delete(state);
    else this.#shown.set(state, stateWord(state));
    if (this.#isLive) reporter.redraw();
    else await reporter.say(rowChange(state, batch.progress.counts));
    if (reporter.json) {
      const elapsedMs = host.clock.monotonic() - this.#start;
      await reporter.resultJson(rowJson(state, { previous, final, at: host.clock.now(), elapsedMs }));
    } else if (isOver) await reporter.result(`${rowLine(state, PLAIN)}\n`);
  }

  async #waiting(until: number): Promise<void> {
    const { host, reporter, limit } = this.parts;
    const waitMs = until - host.clock.now();
    if (waitMs <= SILENT_WAIT_MS) return;
    const wait = `nothing is sent for ${formatDuration(waitMs)}, until ${isoDate(until)}`;
    await reporter.notice("WAITING_FOR_QUOTA", `${limit}; ${wait}`);
  }

  async #unchanged(): Promise<void> {
    if (this.#isLive) return;
    const { batch, reporter, host } = this.parts;
    const progress = progressText(batch.progress.counts, batch.outlook, host.clock.now(), PLAIN);
    await reporter.say(`no change: ${progress}`);
  }

  async #createsStopped(reason: { failures: number } | { error: unknown }): Promise<void> {
    if ("failures" in reason) {
      const rows = reason.failures === 1 ? "1 row has" : `${reason.failures} rows have`;
      return this.parts.reporter.notice(
        "MAX_FAILURES",
        `${rows} failed, which --max-failures allows; no more are sent`,
      );
    }
    const { exit_code, hint } = failureOf(reason.error);
    this.#exitCode = exit_code;
    const next = `What runs is watched to its end. Then go on with: ${this.parts.resume}`;
    await this.#error(reason.error, { hint: hint ? `${hint} ${next}` : next });
  }

  async #error(error: unknown, facts: Partial<Failure>): Promise<void> {
    await this.parts.reporter.error({ ...failureOf(error), ...facts });
  }

  async #sayNextSteps(): Promise<void> {
    const { reporter, batch } = this.parts;
    const { counts, states } = batch.progress;
    const [unknown, ...others] = states.filter(({ standing }) => standing === "unknown");
    if (unknown) {
      const isOne = others.length === 0;
      const [rows, were] = isOne ? ["1 row has", "was"] : [`${others.length + 1} rows have`, "were"];
      const more = isOne ? "" : " (all: research list --status UNKNOWN)";
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

  #drawn() {
    const { host, batch, usual } = this.parts;
    const { counts, states } = batch.progress;
    const line = liveBatch(counts, batch.outlook, host.clock.now(), this.#style);
    const share = 1 - (counts.running + counts.waiting) / Math.max(states.length, 1);
    return { text: usual === undefined ? line : `${line} (a run: ${usual})`, share };
  }
}

import type { CitationJudge } from "../../../app/citation-judge.js";
import { describeFailure, describeRowError, type Failure } from "../../../app/describe-failure.js";
import { EXIT_CODES, getCheckExitCode } from "../../../app/errors.js";
import { describeRow, ROW_FORMS } from "../../../app/open-batch.js";
import type {
  BatchJob,
  BatchRunEvent,
  BatchRunOptions,
} from "../../../client/workflows/batch/batch-context.js";
import type { BatchLane } from "../../../client/workflows/batch/create-pacer.js";
import { chooseStateWord, type RowState } from "../../../client/workflows/batch/plan-rows.js";
import { buildRequestTarget } from "../../../client/workflows/batch/result-collector.js";
import { BatchRunner } from "../../../client/workflows/batch/run-batch.js";
import { UnresolvedCreateError } from "../../../client/workflows/errors.js";
import type { Result } from "../../../client/workflows/fetch-results.js";
import { formatDollars } from "../../../core/text/describe-progress.js";
import { formatCount } from "../../../core/text/format-text.js";
import { escapeLine } from "../../../core/text/safe-text.js";
import { formatDuration, formatIsoDate } from "../../../core/text/time-format.js";
import { SILENT_WAIT_MS } from "../../command-context.js";
import { describeCommandFailure } from "../../errors.js";
import { pickWorstExit } from "../../requests/exit-codes.js";
import { describeUsualLength, WaitReport } from "../../requests/format-progress.js";
import { ResultChecks } from "../../requests/result-checks.js";
import { formatStatusWord } from "../../requests/show-states.js";
import { describeAccount, explainQuotaWait } from "../../requests/show-submit.js";
import { alignRow } from "../../terminal/align-columns.js";
import type { Host } from "../../terminal/host.js";
import { Interrupted } from "../../terminal/interruption.js";
import { notifyOfEnd } from "../../terminal/notification.js";
import { ClosedPipeError, type Reporter, type Terminal } from "../../terminal/reporter.js";
import { chooseStyle, getTerminalColumns, PLAIN, type Style } from "../../terminal/style.js";
import type { Given } from "../shared-flags.js";
import {
  addRowName,
  buildRowJson,
  buildSummaryJson,
  formatBatchProgress,
  formatLiveLine,
  formatRowChange,
  formatRowCounts,
  formatRowForPeople,
  formatRowLine,
  measureNameWidth,
  measureRowDuration,
} from "./format-batch.js";
import { findRowAccount, readRowResult } from "./row-result.js";

export type ShowOptions = Given<"notify" | "pace" | "check"> & { maxFailures?: number };

/** Runs a batch, shows its events, and returns the exit code. `beside`: whether the command prints something other than rows on stdout. Throws Interrupted. */
export async function showBatch(
  terminal: Terminal,
  job: BatchJob,
  {
    notify: isNotified,
    check: isChecked,
    checkModel,
    beside,
    ...options
  }: ShowOptions & { checkModel: CitationJudge | undefined; beside?: (result: Result) => unknown },
  resume: string,
): Promise<number> {
  const checks = isChecked ? new ResultChecks(terminal, checkModel) : undefined;
  const [{ account }] = job.lanes as [BatchLane];
  const batch = new BatchRunner(job, {
    ...options,
    signal: terminal.signal,
    ...ROW_FORMS,
    checkSources: checks && createRowChecker(checks, job, (state) => batch.noteCheck(state)),
    noteOf: beside,
    failsAtLimits: beside !== undefined,
  });
  const renderer = new BatchRenderer({
    ...{ batch, reporter: terminal.reporter, host: terminal.host, resume },
    ...{ usual: describeUsualLength(account), isBeside: beside !== undefined },
  });
  await renderer.begin();
  try {
    for await (const event of batch.run()) await renderer.show(event);
    const exitCode = pickWorstExit([
      ...batch.progress.states.map((state) =>
        getRowExitCode(state, { isChecked, isRun: beside !== undefined }),
      ),
      renderer.exitCode,
    ]);
    await renderer.buildSummary(exitCode);
    return exitCode;
  } catch (error) {
    if (error instanceof ClosedPipeError) return EXIT_CODES.NOT_FINISHED;
    if (error instanceof Interrupted) {
      error.resume = `running requests continue; go on with: ${resume}`;
      await renderer.buildSummary(describeCommandFailure(error).exit_code).catch(() => {});
    }
    throw error;
  } finally {
    renderer.end();
    await checks?.close();
    const { counts, states } = batch.progress;
    const open = counts.running + counts.waiting;
    if (isNotified)
      await notifyOfEnd(terminal, `${states.length - open} of ${states.length} rows have ended`);
  }
}

/** Creates the function that checks a row's result. It reads an earlier command's result from the history or the row's file. `onChange`: see ResultChecks. */
function createRowChecker(
  checks: ResultChecks,
  job: BatchJob,
  onChange: (state: RowState) => void,
): BatchRunOptions["checkSources"] {
  return async (state, fetched) => {
    const { target, result } = fetched
      ? { target: buildRequestTarget(state, findRowAccount(job, state)), result: fetched }
      : readRowResult(job, state);
    const checked = await checks.check(target, result, () => onChange(state));
    if (!checked) return undefined;
    // Do not copy these objects, because their counts change if the model proves unreliable.
    const { checked_at, counts, metrics } = checked;
    return { checked_at, counts, metrics };
  };
}

/** Returns the exit code of one row. */
function getRowExitCode(
  { standing, error, requestId, check }: RowState,
  { isChecked = false, isRun = false }: { isChecked?: boolean | undefined; isRun?: boolean },
): number {
  switch (standing) {
    case "done":
      return check && isChecked ? getCheckExitCode(check) : 0;
    case "failed":
      return EXIT_CODES.RESEARCH_FAILED;
    case "stopped":
      return EXIT_CODES.RESEARCH_STOPPED;
    case "unknown":
      return EXIT_CODES.OUTCOME_UNKNOWN;
    default:
      // If the id is known, the research goes on, whatever ended the wait.
      return isRun && requestId !== undefined
        ? EXIT_CODES.NOT_FINISHED
        : (error?.exit_code ?? EXIT_CODES.NOT_FINISHED);
  }
}

interface RendererParts {
  batch: BatchRunner;
  reporter: Reporter;
  host: Host;
  /** The command that resumes this batch. */
  resume: string;
  /** The usual duration of a run, in words; undefined if too few runs are known. */
  usual: string | undefined;
  /** Whether the command prints something other than rows on stdout. If so, each row has its own live line. */
  isBeside?: boolean;
}

/** Shows the events of a batch as a live line, as lines, or as JSON. */
class BatchRenderer {
  readonly #start: number;
  /** The last state that was shown of each running row. */
  readonly #shown = new Map<RowState, string>();
  readonly #report: WaitReport;
  #isLive = false;
  #hasWaited = false;
  /** The width of the column with the rows' names. */
  #names: number | undefined;
  #style: Style = PLAIN;
  /** The exit code of the error that stopped the create calls; 0 if no error did. */
  exitCode = 0;

  constructor(private readonly parts: RendererParts) {
    this.#start = parts.host.clock.monotonic();
    this.#report = new WaitReport(parts);
  }

  /** Reports the rows that an earlier command left unknown or refused, because they count for this command's exit code. */
  async begin(): Promise<void> {
    const { batch, reporter, host } = this.parts;
    this.#style = await chooseStyle(host.stderr, host.env);
    this.#isLive = await reporter.startLive(() => this.#redraw());
    for (const state of batch.progress.states) {
      const { standing, sentAt, localId } = state;
      if (standing === "unknown")
        state.error = describeRowError(
          new UnresolvedCreateError(`sent at ${sentAt}`, {}, localId, undefined),
        );
      const { error } = state;
      // People read these errors once for all rows, in the summary.
      if (reporter.json && error && (standing === "unknown" || standing === "refused"))
        await reporter.writeError({ ...error, message: addRowName(state, error.message), local_id: localId });
    }
  }

  end(): void {
    this.parts.reporter.stopLive();
  }

  /** Shows one event. Rejects if stdout cannot be written. */
  async show(event: BatchRunEvent): Promise<void> {
    const { reporter } = this.parts;
    switch (event.kind) {
      case "row":
        return this.#showRow(event.state, event.final);
      case "row-failed": {
        const { state, error } = event;
        const id = state.requestId === undefined ? {} : { request_id: state.requestId };
        return this.#showError(error, { message: addRowName(state, describeFailure(error).message), ...id });
      }
      case "not-saved":
        return reporter.writeNotice(
          "NOT_SAVED",
          addRowName(
            event.state,
            `request ${event.state.requestId} exists and is NOT SAVED: ${event.error.message}`,
          ),
        );
      case "schema-mismatch":
        return reporter.writeNotice("SCHEMA_MISMATCH", addRowName(event.state, event.message));
      case "waiting-for-quota":
        return this.#showWaiting(event);
      case "unchanged":
        return this.#showUnchanged();
      case "creates-stopped":
        return this.#showCreatesStopped(event);
      default:
        return this.#report.show(event, "state" in event && event.state ? addRowName(event.state, "") : "");
    }
  }

  /** Prints the summary: how many rows are in each state, and what the user can do about failed ones. */
  async buildSummary(exitCode: number): Promise<void> {
    const { reporter, batch } = this.parts;
    this.end();
    const { counts, costDollars } = batch.progress;
    if (reporter.json && this.parts.isBeside) return;
    if (reporter.json) await reporter.writeResultJson(buildSummaryJson(counts, exitCode, costDollars));
    else {
      const usual = this.parts.usual ? `; a run ${this.parts.usual.replace("usually", "usually takes")}` : "";
      const tookMs = this.parts.host.clock.monotonic() - this.#start;
      const cost = costDollars === undefined ? "" : `; it cost ${formatDollars(costDollars)}`;
      await reporter.say(
        `${formatRowCounts(counts, PLAIN)}; it took ${formatDuration(tookMs)}${usual}${cost}`,
      );
    }
    await this.#sayNextSteps(exitCode > 128);
  }

  async #showRow(state: RowState, final: boolean): Promise<void> {
    const { reporter, host, batch } = this.parts;
    const previous = this.#shown.get(state) ?? null;
    const isOver = final || state.error !== undefined;
    if (isOver) this.#shown.delete(state);
    else this.#shown.set(state, chooseStateWord(state));
    if (this.#isLive) reporter.redraw();
    else await reporter.say(formatRowChange(state, batch.progress.counts));
    if (this.parts.isBeside) return;
    if (reporter.json) {
      const elapsedMs = host.clock.monotonic() - this.#start;
      await reporter.writeResultJson(
        buildRowJson(state, { previous, final, at: host.clock.now(), elapsedMs }),
      );
    } else if (isOver) await reporter.writeResult(`${await this.#formatRow(state)}\n`);
  }

  /** Formats an ended row; on a terminal in columns. */
  async #formatRow(state: RowState): Promise<string> {
    const { reporter, host, batch } = this.parts;
    if (!host.stdout.isTTY) return formatRowLine(state, PLAIN);
    this.#names ??= measureNameWidth(batch.progress.states.map(({ row }) => describeRow(row)));
    return formatRowForPeople(
      state,
      this.#names,
      getTerminalColumns(host.stdout),
      await reporter.loadStyle(),
    );
  }

  async #showWaiting({ until, account }: BatchRunEvent & { kind: "waiting-for-quota" }): Promise<void> {
    const { host, reporter, batch } = this.parts;
    const waitMs = until - host.clock.now();
    // Without a limit of the user's own, each wait follows a refusal, so the first one names the flag that prevents refusals.
    const isNews = !this.#hasWaited && !batch.hasLimit;
    this.#hasWaited = true;
    if (waitMs <= SILENT_WAIT_MS && !isNews) return;
    const wait = `nothing is sent for ${formatDuration(waitMs)}, until ${formatIsoDate(until)}`;
    const flag = isNews && !account.perDay ? "; to stay below the limit, pass --per-hour N" : "";
    await reporter.writeNotice("WAITING_FOR_QUOTA", `${explainQuotaWait(account)}; ${wait}${flag}`);
  }

  async #showUnchanged(): Promise<void> {
    if (this.#isLive) return;
    const { batch, reporter, host } = this.parts;
    const progress = formatBatchProgress(batch.progress.counts, batch.forecast, host.clock.now(), PLAIN);
    await reporter.say(`no change: ${progress}`);
  }

  async #showCreatesStopped({ reason, account }: BatchRunEvent & { kind: "creates-stopped" }): Promise<void> {
    if ("failures" in reason) {
      const rows = reason.failures === 1 ? "1 row has" : `${reason.failures} rows have`;
      return this.parts.reporter.writeNotice(
        "MAX_FAILURES",
        `${rows} failed, the limit of --max-failures; no more rows are sent`,
      );
    }
    const { exit_code, hint, message } = describeFailure(reason.error);
    this.exitCode = pickWorstExit([this.exitCode, exit_code]);
    const isRunning = this.parts.batch.progress.counts.running > 0;
    const next = `${isRunning ? "Running requests are watched until they end. " : ""}Then go on with: ${this.parts.resume}`;
    const named = account ? { message: `${describeAccount(account)}: ${message}` } : {};
    await this.#showError(reason.error, { ...named, hint: hint ? `${hint} ${next}` : next });
  }

  async #showError(error: unknown, facts: Partial<Failure>): Promise<void> {
    await this.parts.reporter.writeError({ ...describeFailure(error), ...facts });
  }

  async #sayNextSteps(isSignal: boolean): Promise<void> {
    const { reporter, batch, isBeside } = this.parts;
    const { counts, states } = batch.progress;
    const unknowns = states.filter(({ standing }) => standing === "unknown");
    const [unknown, ...others] = unknowns;
    if (unknown) {
      const names = unknowns.slice(0, 3).map(({ row }) => describeRow(row));
      const which = escapeLine(names.join(", ")) + (unknowns.length > names.length ? ", …" : "");
      const isOne = others.length === 0;
      const rows = formatCount(others.length + 1, isBeside ? "account" : "row");
      const [have, were] = isOne ? ["has", "was"] : ["have", "were"];
      const more = isOne ? "" : " (all: research list --status UNKNOWN)";
      const ways = [
        unknown.localId &&
          `settle it with: research resolve ${unknown.localId} --request-id ID, or --not-created${more}`,
        !isBeside && "--resend-unknown sends them again and may create duplicates",
      ].filter(Boolean);
      const next = ways.length > 0 ? `: ${ways.join("; ")}` : "";
      await reporter.say(`${rows} (${which}) ${have} an unknown outcome and ${were} not sent again${next}`);
    }
    const parts = states.filter(({ standing, cutShort }) => standing === "failed" && cutShort).length;
    const again = isBeside ? "" : ", --retry-partial sends the rows again";
    if (parts > 0)
      await reporter.say(
        `${parts} cut short: \`research output --partial ID\` prints a part that exists${again}`,
      );
    if (!isBeside && counts.failed - parts + counts.refused > 0)
      await reporter.say("--retry-failed sends failed and refused rows again");
    // After a signal, the handler of the interruption prints the same command.
    const left = counts.waiting + counts.running;
    if (left > 0 && !isSignal) await reporter.say(`${left} not finished; go on with: ${this.parts.resume}`);
  }

  #redraw() {
    const { host, batch, usual, isBeside } = this.parts;
    if (isBeside) {
      const { states } = batch.progress;
      const width = measureNameWidth(states.map(({ row }) => describeRow(row)));
      const lasting = host.clock.monotonic() - this.#start;
      const lines = states.map((state) =>
        alignRow(
          [
            describeRow(state.row),
            formatStatusWord(chooseStateWord(state), this.#style),
            formatDuration(measureRowDuration(state) ?? lasting),
          ],
          [width, 10],
          getTerminalColumns(host.stderr),
        ),
      );
      return lines.join("\n");
    }
    const line = formatLiveLine(batch.progress.counts, batch.forecast, host.clock.now(), this.#style);
    return usual === undefined ? line : `${line} (a run: ${usual})`;
  }
}

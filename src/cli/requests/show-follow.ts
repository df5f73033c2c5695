import { describeFailure, type Failure } from "../../app/describe-failure.js";
import { CodedError, EXIT_CODES } from "../../app/errors.js";
import type { NamedTarget } from "../../client/workflows/find-and-query-requests.js";
import {
  type FollowEvent,
  type FollowOptions,
  followRequests,
  type WatchOutcome,
  WatchProgress,
} from "../../client/workflows/follow-requests.js";
import { formatExactDuration } from "../../core/text/time-format.js";
import { Interrupted } from "../terminal/interruption.js";
import { ClosedPipeError, type Terminal } from "../terminal/reporter.js";
import { PLAIN } from "../terminal/style.js";
import { addRequestId, getStatusExitCode } from "./exit-codes.js";
import {
  buildWatchJson,
  DurationReport,
  formatLiveStates,
  formatStateChange,
  WaitReport,
} from "./format-progress.js";
import { formatStatusLine } from "./show-states.js";

export interface FollowViewOptions extends Omit<FollowOptions, "signal"> {
  /** Whether to print states to stdout; false if stdout is for something else (`run`). */
  print: boolean;
  /** Formats the command that continues with these requests. The function is undefined if no command can. */
  resume: ((requestIds: readonly string[]) => string) | undefined;
  /** The question, needed only if the history does not have it. */
  question?: string;
  /** Whether this command created the requests. Then the end of the wait is never an error (contract §1.5). */
  created?: boolean;
}

type Event<Kind extends FollowEvent["kind"]> = Extract<FollowEvent, { kind: Kind }>;
type Last = Pick<Event<"timeout">, "requestId" | "status" | "at" | "elapsedMs">;

/** Follows requests to their end. On a signal, writes the last line of each unfinished request and throws Interrupted. */
export async function showFollow(
  terminal: Terminal,
  targets: readonly NamedTarget[],
  options: FollowViewOptions,
): Promise<WatchOutcome[]> {
  return await new FollowView(terminal, targets, options).run().finally(() => terminal.reporter.stopLive());
}

/** Returns the exit code of a watch. `created`: if this command created the request, giving up is not an error, so that no script creates it again. */
export function getOutcomeExitCode(outcome: WatchOutcome, { created = false } = {}): number {
  if (outcome.kind === "final") return getStatusExitCode(outcome.status ?? "");
  if (outcome.kind === "given-up" && !created) return describeFailure(outcome.error).exit_code;
  return EXIT_CODES.NOT_FINISHED;
}

class FollowView {
  readonly #progress: WatchProgress;
  readonly #report: WaitReport;
  readonly #start: number;
  readonly #taken: DurationReport;
  /** The last progress that the service reported for each request. */
  readonly #said = new Map<string, unknown>();
  #isLive = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly targets: readonly NamedTarget[],
    private readonly options: FollowViewOptions,
  ) {
    this.#progress = new WatchProgress(targets.map(({ requestId }) => requestId));
    this.#report = new WaitReport(terminal);
    this.#start = terminal.host.clock.monotonic();
    this.#taken = new DurationReport(terminal.host.clock, targets);
  }

  async run(): Promise<WatchOutcome[]> {
    const { signal, reporter } = this.terminal;
    const question = this.options.question ?? this.targets[0]?.entry?.prompt;
    this.#isLive = await reporter.startLive(() => formatLiveStates({ ...this.#shown, question }));
    try {
      const events = followRequests(this.targets, { ...this.options, signal });
      for await (const event of events) {
        this.#progress.apply(event);
        this.#taken.apply(event);
        await this.#show(event);
      }
    } catch (error) {
      if (error instanceof Interrupted) await this.#showInterrupted(error);
      if (!(error instanceof ClosedPipeError)) throw error;
    }
    await this.#sayTimeout();
    const taken = this.#taken.formatText(this.#progress.outcomes, this.#shown.elapsedMs);
    if (taken !== undefined && this.options.resume) await reporter.say(taken);
    return this.#progress.outcomes;
  }

  async #show(event: FollowEvent): Promise<void> {
    const { reporter } = this.terminal;
    switch (event.kind) {
      case "state":
      case "progress":
        this.#said.set(event.requestId, event.data.progress);
        return event.kind === "state" ? this.#showChange(event) : reporter.redraw();
      case "trouble":
      case "recovered":
      case "asked-to-wait":
      case "stuck":
      case "not-observed":
        return this.#report.show(event);
      case "unchanged":
        return this.#isLive ? undefined : reporter.say(`still watching: ${formatLiveStates(this.#shown)}`);
      case "given-up":
        return this.#showGivenUp(event);
      case "timeout":
        return this.#writeLastLine(event);
    }
  }

  async #showChange(event: Event<"state">): Promise<void> {
    const { requestId, status, elapsedMs, final } = event;
    const { reporter } = this.terminal;
    reporter.redraw();
    if (!this.#isLive) await reporter.say(formatStateChange(requestId, status, elapsedMs));
    if (!this.options.print) return;
    if (reporter.json)
      await reporter.writeResultJson(buildWatchJson({ ...event, progress: event.data.progress }));
    else if (final)
      await reporter.writeResult(`${formatStatusLine(requestId, status, PLAIN, reporter.columns)}\n`);
  }

  async #showGivenUp(event: Event<"given-up">): Promise<void> {
    const { requestId, error } = event;
    const { created = false } = this.options;
    const failure = addRequestId(describeFailure(error), requestId, this.terminal.reporter);
    // Exit code 5 means that the service does not know the id, so another watch would end in the same way.
    const resume = created || failure.exit_code !== 5 ? this.#resume([requestId]) : undefined;
    const goOn =
      resume && (failure.hint ? `${failure.hint} Then go on with: ${resume}` : `Go on with: ${resume}`);
    const exit_code = getOutcomeExitCode({ ...event, kind: "given-up" }, { created });
    const shown = { ...failure, exit_code, hint: goOn ?? failure.hint };
    await this.terminal.reporter.writeError(shown);
    await this.#writeLastLine(event, { ...describeFailure(error), exit_code });
  }

  /**
   * Writes the last line of a request that is not final, so that a reader of stdout gets one for every request. If no
   * state was seen, the line has `-`; in JSON it has null, or only the error.
   */
  async #writeLastLine({ requestId, status, at, elapsedMs }: Last, error?: Failure): Promise<void> {
    if (!this.options.print) return;
    const { reporter } = this.terminal;
    if (!reporter.json)
      return reporter.writeResult(`${formatStatusLine(requestId, status ?? "-", PLAIN, reporter.columns)}\n`);
    const progress = this.#said.get(requestId);
    const line = buildWatchJson({
      requestId,
      status,
      previous: status,
      at,
      elapsedMs,
      final: false,
      progress,
    });
    const { status: _, previous_status: __, ...unseen } = line;
    const shown = error && status === null ? unseen : line;
    await reporter.writeResultJson(error ? { ...shown, error } : shown);
  }

  async #showInterrupted(error: Interrupted): Promise<void> {
    const { reporter } = this.terminal;
    const { running } = this.#progress;
    const moment = { at: this.terminal.host.clock.now(), elapsedMs: this.#shown.elapsedMs };
    for (const outcome of running) await this.#writeLastLine({ ...outcome, ...moment }).catch(() => {});
    reporter.stopLive();
    const ids = running.map(({ requestId }) => requestId);
    error.requestId = ids.length === 1 ? ids[0] : undefined;
    const resume = this.#resume(ids);
    error.resume = resume && `the research goes on; go on with: ${resume}`;
  }

  async #sayTimeout(): Promise<void> {
    const { outcomes } = this.#progress;
    const late = outcomes.filter(({ kind }) => kind === "timeout");
    const [first, ...others] = late.map(({ requestId }) => requestId);
    if (first === undefined) return;
    const which = others.length === 0 ? `${first} is` : `${late.length} of ${outcomes.length} are`;
    const resume = this.#resume([first, ...others]);
    const error = new CodedError(
      "TIMEOUT",
      `${which} not finished after ${formatExactDuration(this.options.timeout ?? 0)}`,
      {
        hint: resume && `The research goes on; go on with: ${resume}`,
        requestId: others.length === 0 ? first : undefined,
      },
    );
    await this.terminal.reporter.writeError(describeFailure(error));
  }

  #resume(ids: readonly string[]): string | undefined {
    return ids.length > 0 ? this.options.resume?.(ids) : undefined;
  }

  get #shown() {
    const { outcomes } = this.#progress;
    const states = outcomes.map(({ status }) => status);
    const elapsedMs = this.terminal.host.clock.monotonic() - this.#start;
    const progress = this.#said.get(outcomes[0]?.requestId ?? "");
    return { states, elapsedMs, usual: this.#taken.usual, progress };
  }
}

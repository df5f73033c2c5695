import type { ResearchError } from "../client/errors.js";
import type { Pace } from "../client/pace.js";
import type { WatchEvent, WatchOptions } from "../client/watch.js";
import { isFinal, type Status } from "../protocol/conversation.js";
import { LocalError } from "../store/errors.js";
import type { Context } from "./context.js";
import { formatDuration } from "./durations.js";
import { CliError, ClosedPipe, EXIT_CODES, Interrupted, worstOf } from "./errors.js";
import { failureOf } from "./failure.js";
import type { Target } from "./ids.js";
import { resumeCommand } from "./resume.js";
import { PLAIN } from "./terminal.js";
import { statusLine } from "./views/status.js";
import { changeLine, liveText, unchangedLine } from "./views/watch.js";

export interface FollowOptions {
  /** Milliseconds; 0 or absent for none. */
  timeout?: number;
  interval?: number;
  patience?: number;
  stopOnInterrupt?: boolean;
  /** Whether the service has answered in this command already. */
  answered?: boolean;
  /** False where stdout is for something else (`run`). */
  print: boolean;
  /** The command that goes on after an interruption: `watch`, or `output -w`. */
  resume: readonly string[];
}

/** How one id ended for this command. */
export interface Followed {
  requestId: string;
  status: Status | null;
  exitCode: number;
}

const REDRAW_MS = 1_000;

/** Watches ids to their end, showing what happens. Throws Interrupted after every unfinished id has had its last line. */
export async function follow(
  ctx: Context,
  targets: readonly Target[],
  options: FollowOptions,
): Promise<Followed[]> {
  const follower = new Follower(ctx, targets, options);
  try {
    return await follower.run();
  } finally {
    await follower.end();
  }
}

type Ended = Extract<WatchEvent, { kind: "given-up" | "timeout" }>;

class Follower {
  readonly #ctx: Context;
  readonly #targets: ReadonlyMap<string, Target>;
  readonly #options: FollowOptions;
  readonly #states: Map<string, Status | null>;
  readonly #ended = new Map<string, Followed>();
  readonly #start: number;
  #redraw: NodeJS.Timeout | undefined;
  #isLive = false;

  constructor(ctx: Context, targets: readonly Target[], options: FollowOptions) {
    this.#ctx = ctx;
    this.#targets = new Map(targets.map((target) => [target.requestId, target]));
    this.#states = new Map([...this.#targets.keys()].map((id) => [id, null]));
    this.#options = options;
    this.#start = ctx.host.clock.monotonic();
  }

  async run(): Promise<Followed[]> {
    const { client, signal, reporter } = this.#ctx;
    this.#isLive = await reporter.startLive();
    if (this.#isLive) {
      this.#draw();
      this.#redraw = setInterval(() => this.#draw(), REDRAW_MS);
    }
    const { timeout, interval, patience, answered } = this.#options;
    const watchOptions: WatchOptions = {
      signal,
      timeout: timeout || Number.POSITIVE_INFINITY,
      interval,
      answered: answered ?? false,
      ...(patience !== undefined && { patience }),
      ...this.#pace(),
    };
    try {
      for await (const event of client.watch([...this.#targets.values()].map(watchTarget), watchOptions)) {
        await this.#show(event);
      }
    } catch (error) {
      if (error instanceof ClosedPipe) return this.#afterClosedPipe();
      if (error instanceof Interrupted) await this.#interrupted(error);
      throw error;
    }
    await this.#sayTimeout();
    return this.#results();
  }

  async end(): Promise<void> {
    clearInterval(this.#redraw);
    this.#ctx.reporter.stopLive();
  }

  /** How long past runs took, where enough are known, paces the polls better than their age alone. */
  #pace(): { pace?: Pace } {
    return {};
  }

  async #show(event: WatchEvent): Promise<void> {
    const { reporter } = this.#ctx;
    switch (event.kind) {
      case "state":
        return this.#changed(event);
      case "trouble":
        return reporter.notice("TROUBLE", `${event.error.message}; polling goes on`);
      case "recovered":
        return reporter.notice(
          "RECOVERED",
          `the service answers again (after ${formatDuration(event.elapsedMs)} of this watch)`,
        );
      case "asked-to-wait": {
        if (event.waitMs <= 5_000) return;
        const until = new Date(this.#ctx.host.clock.now() + event.waitMs);
        const when = Number.isNaN(until.getTime()) ? "never" : until.toISOString();
        return reporter.notice(
          "WAITING",
          `the service asked to wait ${formatDuration(event.waitMs)} (until ${when})`,
        );
      }
      case "unchanged":
        if (!this.#isLive) await reporter.say(unchangedLine(this.#progress()));
        return;
      case "given-up":
        return this.#gaveUp(event);
      case "timeout":
        return this.#lastLine(event.requestId, EXIT_CODES.TIMEOUT, event);
    }
  }

  async #changed({
    requestId,
    status,
    previous,
    at,
    elapsedMs,
    final,
  }: Extract<WatchEvent, { kind: "state" }>): Promise<void> {
    this.#states.set(requestId, status);
    this.#observe(requestId, status);
    this.#draw();
    const { reporter } = this.#ctx;
    if (!this.#isLive) await reporter.say(changeLine(requestId, status, elapsedMs));
    if (final) this.#ended.set(requestId, { requestId, status, exitCode: exitCodeOf(status) });
    if (!this.#options.print) return;
    if (reporter.json) await reporter.resultJson(line(requestId, status, previous, at, elapsedMs, final));
    else if (final) await reporter.result(`${statusLine(requestId, status, PLAIN)}\n`);
  }

  async #gaveUp(event: Extract<WatchEvent, { kind: "given-up" }>): Promise<void> {
    const error = this.#withResume(event.error, event.requestId);
    await this.#ctx.reporter.error(error);
    await this.#lastLine(event.requestId, error.exit_code, event, event.error);
  }

  /** The last line of an id that is not final, which a reader of stdout can rely on. */
  async #lastLine(
    requestId: string,
    exitCode: number,
    { at, elapsedMs }: Pick<Ended, "at" | "elapsedMs">,
    error?: ResearchError,
  ): Promise<void> {
    const status = this.#states.get(requestId) ?? null;
    this.#ended.set(requestId, { requestId, status, exitCode });
    if (!this.#options.print) return;
    const { reporter } = this.#ctx;
    if (!reporter.json) return reporter.result(`${statusLine(requestId, status ?? "UNKNOWN", PLAIN)}\n`);
    const failure = error && failureOf(error);
    await reporter.resultJson({
      ...line(requestId, status, status, at, elapsedMs, false),
      ...(failure && { error: failure }),
    });
  }

  async #interrupted(error: Interrupted): Promise<void> {
    const { host, reporter } = this.#ctx;
    const unfinished = this.#unfinished();
    const moment = { at: host.clock.now(), elapsedMs: host.clock.monotonic() - this.#start };
    for (const requestId of unfinished) await this.#lastLine(requestId, 0, moment).catch(() => {});
    if (this.#options.stopOnInterrupt) await this.#stopAll(unfinished);
    else error.resume = `the research goes on; go on watching with: ${this.#resumeCommand(unfinished)}`;
    reporter.stopLive();
  }

  async #stopAll(ids: readonly string[]): Promise<void> {
    for (const requestId of ids) {
      try {
        await this.#ctx.client.stop(requestId);
        this.#observe(requestId, "STOPPED");
        await this.#ctx.reporter.say(`${requestId} is stopped`);
      } catch (error) {
        await this.#ctx.reporter.error(failureOf(error));
      }
    }
  }

  async #sayTimeout(): Promise<void> {
    const late = [...this.#ended.values()]
      .filter(({ exitCode }) => exitCode === EXIT_CODES.TIMEOUT)
      .map(({ requestId }) => requestId);
    if (late.length === 0) return;
    const what =
      late.length === 1
        ? `${late[0]} is not finished`
        : `${late.length} of ${this.#targets.size} are not finished`;
    const hint = `The research goes on; go on watching with: ${this.#resumeCommand(late)}`;
    await this.#ctx.reporter.error(
      failureOf(
        new CliError("TIMEOUT", `${what} after ${formatDuration(this.#options.timeout ?? 0)}`, {
          hint,
          ...(late.length === 1 && { requestId: late[0] }),
        }),
      ),
    );
  }

  #withResume(error: ResearchError, requestId: string) {
    const failure = failureOf(error);
    const resume = `go on watching with: ${this.#resumeCommand([requestId])}`;
    return {
      ...failure,
      request_id: requestId,
      hint: failure.hint ? `${failure.hint} Then ${resume}` : `When that is mended, ${resume}`,
    };
  }

  #resumeCommand(ids: readonly string[]): string {
    return resumeCommand(this.#ctx, ...this.#options.resume, ...ids);
  }

  #afterClosedPipe(): Followed[] {
    for (const requestId of this.#unfinished()) {
      this.#ended.set(requestId, {
        requestId,
        status: this.#states.get(requestId) ?? null,
        exitCode: EXIT_CODES.NOT_FINISHED,
      });
    }
    return this.#results();
  }

  #unfinished(): string[] {
    return [...this.#targets.keys()].filter((id) => !this.#ended.has(id));
  }

  #results(): Followed[] {
    return [...this.#targets.keys()].flatMap((id) => this.#ended.get(id) ?? []);
  }

  #observe(requestId: string, status: Status): void {
    const entry = this.#targets.get(requestId)?.entry;
    if (!entry) return;
    observe(this.#ctx, entry, status);
    entry.status = status;
  }

  #progress() {
    return { states: this.#states, elapsedMs: this.#ctx.host.clock.monotonic() - this.#start };
  }

  #draw(): void {
    if (this.#isLive) this.#ctx.reporter.live(liveText(this.#progress()));
  }
}

/** The exit code of several followed ids. */
export function worstFollowed(followed: readonly Followed[]): number {
  return worstOf(followed.map(({ exitCode }) => exitCode));
}

/** The exit code of a state, for `watch`, `run` and `status --exit-status`. */
export function exitCodeOf(status: Status): number {
  if (!isFinal(status)) return EXIT_CODES.NOT_FINISHED;
  return { COMPLETED: 0, FAILED: EXIT_CODES.RESEARCH_FAILED, STOPPED: EXIT_CODES.RESEARCH_STOPPED }[status];
}

/** Keeps a state in the history. What cannot be kept can be asked for again, so it stops nothing. */
export function observe(ctx: Context, entry: NonNullable<Target["entry"]>, status: Status): void {
  try {
    ctx.history?.observe(entry, status);
  } catch (error) {
    if (error instanceof LocalError || error instanceof Error)
      void ctx.reporter.notice("HISTORY_NOT_UPDATED", error.message);
  }
}

function watchTarget({ requestId, entry }: Target) {
  const date = (text: string | null | undefined) => {
    const at = Date.parse(text ?? "");
    return Number.isNaN(at) ? undefined : at;
  };
  return { requestId, createdAt: date(entry?.created_at), recordedAt: date(entry?.sent_at) };
}

function line(
  requestId: string,
  status: Status | null,
  previous: Status | null,
  at: number,
  elapsedMs: number,
  final: boolean,
) {
  return {
    request_id: requestId,
    status,
    previous_status: previous,
    at: new Date(at).toISOString(),
    elapsed_ms: Math.round(elapsedMs),
    final,
  };
}

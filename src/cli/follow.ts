import type { ResearchError } from "../client/errors.js";
import type { WatchEvent } from "../client/watch/types.js";
import { statusLine } from "./commands/status/view.js";
import { troubleLine, waitLine } from "./commands/watch/trouble.js";
import { changeLine, liveText, unchangedLine, type WatchLine, watchJson } from "./commands/watch/view.js";
import type { Context } from "./context.js";
import { CliError, ClosedPipe, EXIT_CODES, Interrupted } from "./errors.js";
import { failureOf } from "./failure.js";
import { type Target, watchTarget } from "./ids.js";
import { learntPace } from "./learnt-pace.js";
import { Ledger } from "./ledger.js";
import type { OnDone } from "./on-done.js";
import { exitCodeOf, type Followed } from "./outcome.js";
import { resumeCommand } from "./resume.js";
import { formatDuration } from "./terminal/durations.js";
import { PLAIN } from "./terminal/style.js";

export interface FollowOptions {
  /** Milliseconds; 0 or absent for none. */
  timeout?: number;
  /** The same for the time in PENDING. */
  queueTimeout?: number;
  interval?: number;
  patience?: number;
  stopOnInterrupt?: boolean;
  /** Whether the service has answered in this command already. */
  answered?: boolean;
  /** False where stdout is for something else (`run`). */
  print: boolean;
  /** The words of the command that goes on after this one: `watch`, or `output -w`; undefined where none can. */
  resume: readonly string[] | undefined;
  /** Told of each id that ends. */
  done?: OnDone | undefined;
}

const REDRAW_MS = 1_000;
/** Within a trouble, a wait is announced when it is longer than a watch is silent otherwise, in milliseconds. */
const LONG_WAIT_MS = 300_000;

/** Watches ids to their end, showing what happens. Throws Interrupted after each unfinished id has had its last line. */
export async function follow(
  ctx: Context,
  targets: readonly Target[],
  options: FollowOptions,
): Promise<Followed[]> {
  const follower = new Follower(ctx, targets, options);
  try {
    return await follower.run();
  } finally {
    follower.end();
  }
}

type Event<Kind extends WatchEvent["kind"]> = Extract<WatchEvent, { kind: Kind }>;
type Late = Event<"timeout">;
type Moment = Pick<WatchLine, "at" | "elapsedMs">;

class Follower {
  readonly #ctx: Context;
  readonly #options: FollowOptions;
  readonly #ledger: Ledger;
  readonly #late: Record<Late["limit"], string[]> = { whole: [], queue: [] };
  #redraw: NodeJS.Timeout | undefined;
  #isLive = false;
  /** What the trouble of the moment, or the last one, began with. */
  #trouble: ResearchError | undefined;

  constructor(ctx: Context, targets: readonly Target[], options: FollowOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#ledger = new Ledger(ctx, targets);
  }

  async run(): Promise<Followed[]> {
    const { client, signal, reporter } = this.#ctx;
    this.#isLive = await reporter.startLive();
    if (this.#isLive) {
      this.#draw();
      this.#redraw = setInterval(() => this.#draw(), REDRAW_MS);
    }
    const targets = this.#ledger.targets.map(watchTarget);
    try {
      const watched = client.watch(targets, { ...learntPace(this.#ctx), ...this.#options, signal });
      for await (const event of watched) await this.#show(event);
    } catch (error) {
      if (error instanceof Interrupted) await this.#interrupted(error);
      if (!(error instanceof ClosedPipe)) throw error;
      for (const id of this.#ledger.unfinished) this.#ledger.finish(id, EXIT_CODES.NOT_FINISHED);
    }
    const { timeout = 0, queueTimeout = 0 } = this.#options;
    await this.#sayTimeout(this.#late.whole, "not finished", timeout);
    await this.#sayTimeout(this.#late.queue, "still in the queue", queueTimeout);
    return this.#ledger.results;
  }

  end(): void {
    clearInterval(this.#redraw);
    this.#ctx.reporter.stopLive();
  }

  async #show(event: WatchEvent): Promise<void> {
    const { reporter } = this.#ctx;
    switch (event.kind) {
      case "state":
        return this.#changed(event);
      case "trouble":
        return this.#sayTrouble(event.error);
      case "recovered":
        return reporter.notice(
          "RECOVERED",
          `the service answers again, ${formatDuration(event.elapsedMs)} into this watch`,
        );
      case "asked-to-wait":
        return this.#sayWait(event);
      case "unchanged":
        return this.#isLive ? undefined : reporter.say(unchangedLine(this.#ledger.progress));
      case "given-up":
        return this.#gaveUp(event);
      case "timeout":
        this.#late[event.limit].push(event.requestId);
        return this.#lastLine(event.requestId, EXIT_CODES.TIMEOUT, event);
    }
  }

  async #changed(event: Event<"state">): Promise<void> {
    const { requestId, status, elapsedMs, final } = event;
    const { reporter } = this.#ctx;
    this.#ledger.see(requestId, status);
    this.#draw();
    if (!this.#isLive) await reporter.say(changeLine(requestId, status, elapsedMs));
    if (final) {
      this.#ledger.finish(requestId, exitCodeOf(status));
      this.#options.done?.run({ requestId, status });
    }
    if (!this.#options.print) return;
    if (reporter.json) await reporter.resultJson(watchJson(event));
    else if (final) await reporter.result(`${statusLine(requestId, status, PLAIN)}\n`);
  }

  async #gaveUp(event: Event<"given-up">): Promise<void> {
    const { requestId, error } = event;
    const failure = failureOf(error);
    const resume = this.#resume([requestId]);
    const hint =
      resume && (failure.hint ? `${failure.hint} Then go on with: ${resume}` : `Go on with: ${resume}`);
    await this.#ctx.reporter.error({ ...failure, request_id: requestId, hint: hint ?? failure.hint });
    await this.#lastLine(requestId, failure.exit_code, event, error);
  }

  /** The last line of an id that is not final, which a reader of stdout can rely on. */
  async #lastLine(requestId: string, exitCode: number, moment: Moment, error?: ResearchError): Promise<void> {
    const { status } = this.#ledger.finish(requestId, exitCode);
    if (!this.#options.print) return;
    const { reporter } = this.#ctx;
    if (!reporter.json) return reporter.result(`${statusLine(requestId, status ?? "UNKNOWN", PLAIN)}\n`);
    const line = watchJson({ requestId, status, previous: status, ...moment, final: false });
    await reporter.resultJson(error ? { ...line, error: failureOf(error) } : line);
  }

  async #interrupted(error: Interrupted): Promise<void> {
    const { host, reporter } = this.#ctx;
    const unfinished = this.#ledger.unfinished;
    const moment = { at: host.clock.now(), elapsedMs: this.#ledger.progress.elapsedMs };
    for (const requestId of unfinished) await this.#lastLine(requestId, 0, moment).catch(() => {});
    reporter.stopLive();
    if (this.#options.stopOnInterrupt) return this.#stopAll(unfinished);
    const resume = this.#resume(unfinished);
    error.resume = resume && `the research goes on; go on with: ${resume}`;
  }

  async #stopAll(ids: readonly string[]): Promise<void> {
    const { client, reporter } = this.#ctx;
    for (const requestId of ids) {
      try {
        const { status } = await client.stop(requestId);
        this.#ledger.see(requestId, status);
        await reporter.say(`${requestId} is ${status}`);
      } catch (error) {
        await reporter.error(failureOf(error));
      }
    }
  }

  async #sayTimeout(ids: readonly string[], what: string, afterMs: number): Promise<void> {
    const [requestId, ...others] = ids;
    if (requestId === undefined) return;
    const which =
      others.length === 0 ? `${requestId} is` : `${ids.length} of ${this.#ledger.results.length} are`;
    const resume = this.#resume(ids);
    const error = new CliError("TIMEOUT", `${which} ${what} after ${formatDuration(afterMs)}`, {
      hint: resume && `The research goes on; go on with: ${resume}`,
      requestId: others.length === 0 ? requestId : undefined,
    });
    await this.#ctx.reporter.error(failureOf(error));
  }

  async #sayTrouble(error: ResearchError): Promise<void> {
    this.#trouble = error;
    await this.#ctx.reporter.notice("TROUBLE", troubleLine(error, this.#ctx.host.clock.now()));
  }

  /** Most waits are part of a trouble of which enough was said. */
  async #sayWait({ waitMs, error }: Event<"asked-to-wait">): Promise<void> {
    if (error === this.#trouble || waitMs <= LONG_WAIT_MS) return;
    await this.#ctx.reporter.notice("WAITING", waitLine(waitMs, this.#ctx.host.clock.now()));
  }

  #resume(ids: readonly string[]): string | undefined {
    const { resume } = this.#options;
    return resume && ids.length > 0 ? resumeCommand(this.#ctx, ...resume, ...ids) : undefined;
  }

  #draw(): void {
    if (this.#isLive) this.#ctx.reporter.live(liveText(this.#ledger.progress));
  }
}

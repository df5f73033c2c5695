import type { Status } from "../protocol/conversation.js";
import type { Progress } from "./commands/watch/view.js";
import type { Context } from "./context.js";
import type { Target } from "./ids.js";
import { type Followed, observe } from "./outcome.js";

/** What is known so far of each id that is followed. */
export class Ledger {
  readonly #ctx: Context;
  readonly #targets: ReadonlyMap<string, Target>;
  readonly #states: Map<string, Status | null>;
  readonly #ended = new Map<string, Followed>();
  readonly #start: number;

  constructor(ctx: Context, targets: readonly Target[]) {
    this.#ctx = ctx;
    this.#targets = new Map(targets.map((target) => [target.requestId, target]));
    this.#states = new Map([...this.#targets.keys()].map((id) => [id, null]));
    this.#start = ctx.host.clock.monotonic();
  }

  /** Each id once, however often it was named. */
  get targets(): Target[] {
    return [...this.#targets.values()];
  }

  /** How each id ended, in the order given. */
  get results(): Followed[] {
    return [...this.#targets.keys()].flatMap((id) => this.#ended.get(id) ?? []);
  }

  get unfinished(): string[] {
    return [...this.#targets.keys()].filter((id) => !this.#ended.has(id));
  }

  get progress(): Progress {
    return { states: this.#states, elapsedMs: this.#ctx.host.clock.monotonic() - this.#start };
  }

  /** Notes a state, in the history too where the id is in it. */
  see(requestId: string, status: Status): void {
    this.#states.set(requestId, status);
    observe(this.#ctx, this.#targets.get(requestId)?.entry, status);
  }

  /** Notes that an id is done with, whatever the reason. */
  finish(requestId: string, exitCode: number): Followed {
    const followed = { requestId, status: this.#states.get(requestId) ?? null, exitCode };
    this.#ended.set(requestId, followed);
    return followed;
  }
}

import type { RowState, Standing } from "./plan.js";

/** How many rows stand where. */
export type Counts = Readonly<Record<Standing, number>>;

/** All rows of a batch and where each stands. */
export class BatchProgress {
  readonly states: readonly RowState[];
  readonly #counts: Record<Standing, number> = {
    ...{ waiting: 0, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 },
  };
  #failures = 0;

  constructor(states: readonly RowState[]) {
    this.states = states;
    for (const { standing } of states) this.#counts[standing]++;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** What all rows cost, where the provider says it; undefined if it does of none. */
  get costDollars(): number | undefined {
    const costs = this.states.flatMap(({ costDollars }) => costDollars ?? []);
    return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
  }

  /** Rows that became failed, refused or unknown since this object was made. */
  get failures(): number {
    return this.#failures;
  }

  /** Changes what is known of a row. */
  update(state: RowState, change: Partial<Omit<RowState, "row" | "stem">>): void {
    const before = state.standing;
    this.#counts[before]--;
    Object.assign(state, change);
    this.#counts[state.standing]++;
    const hasFailed = ["failed", "refused", "unknown"].includes(state.standing);
    if (hasFailed && state.standing !== before) this.#failures++;
  }
}

import { EXIT_CODES, worstOf } from "../errors.js";
import type { RowState, Standing } from "./plan.js";

/** How many rows stand where. */
export type Counts = Readonly<Record<Standing, number>>;

/** All rows of a batch and where each stands. */
export class Board {
  readonly states: readonly RowState[];
  readonly #counts: Record<Standing, number> = {
    ...{ waiting: 0, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 },
  };
  readonly #onFailure: (failures: number) => void;
  #failures = 0;

  /** `onFailure` is told of each row that comes to nothing, and how many did so far. */
  constructor(states: readonly RowState[], onFailure: (failures: number) => void = () => {}) {
    this.states = states;
    this.#onFailure = onFailure;
    for (const { standing } of states) this.#counts[standing]++;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Changes what is known of a row. */
  update(state: RowState, change: Partial<Omit<RowState, "row" | "stem">>): void {
    const before = state.standing;
    this.#counts[before]--;
    Object.assign(state, change);
    this.#counts[state.standing]++;
    const cameToNothing = ["failed", "refused", "unknown"].includes(state.standing);
    if (cameToNothing && state.standing !== before) this.#onFailure(++this.#failures);
  }

  /** The worst of all rows, in the order given; `also`: an error that belongs to no row. */
  exitCode(also: number): number {
    return worstOf([...this.states.map(exitCodeOf), also]);
  }
}

/** What a row alone would make of the exit code. */
export function exitCodeOf({ standing, error }: RowState): number {
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

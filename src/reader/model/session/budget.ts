import type { Clock } from "../../../core/clock.js";
import type { Usage } from "../../../core/researcher.js";

/** The limits of one conversation. */
export interface BudgetLimits {
  /** Input and output tokens together. */
  tokens: number;
  /** Requests, including refused and repeated ones. */
  calls: number;
  /** Milliseconds since the research began, including waits. */
  ms: number;
}

/** The flags for the limits, for messages. */
export const FLAGS = { tokens: "--model-tokens", calls: "--model-calls", ms: "--model-time" };

/** A limit does not allow the next request. */
export class BudgetSpent extends Error {
  override name = "BudgetSpent";
  constructor(readonly what: keyof BudgetLimits) {
    super(`the limit of ${FLAGS[what]} was reached`);
  }
}

/** The consumption so far. `output` is the model's part of the tokens. */
export interface SpentSoFar extends BudgetLimits {
  output: number;
}

/** The factor by which an estimate exceeds the highest ratio of tokens to bytes so far. */
const MARGIN = 1.5;

/** Tracks what is left of a conversation's limits. */
export class Budget {
  readonly #spent: SpentSoFar = { tokens: 0, calls: 0, ms: 0, output: 0 };
  /** The highest ratio of input tokens to bytes so far; undefined before the first usage report. */
  #ratio: number | undefined;
  readonly #start: number;
  constructor(
    readonly limits: BudgetLimits,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.#start = clock.monotonic();
  }

  get left(): BudgetLimits {
    const { tokens, calls, ms } = this.limits;
    const spent = this.#spent;
    const elapsed = this.clock.monotonic() - this.#start;
    return { tokens: tokens - spent.tokens, calls: calls - spent.calls, ms: ms - spent.ms - elapsed };
  }

  get spent(): Readonly<SpentSoFar> {
    return this.#spent;
  }

  /** Adds consumption. `ms` is only for time before this process, in an earlier one. */
  charge(more: Partial<SpentSoFar>): void {
    for (const what of ["tokens", "calls", "ms", "output"] as const) this.#spent[what] += more[what] ?? 0;
  }

  /** Estimates the most that `bytes` of input cost in tokens: one for each byte until an endpoint has reported usage. */
  estimate(bytes: number): number {
    return Math.ceil(bytes * this.#tokensPerByte);
  }

  /** Returns how many bytes of input `tokens` pay for. */
  toBytes(tokens: number): number {
    return Math.floor(tokens / this.#tokensPerByte);
  }

  get #tokensPerByte(): number {
    return this.#ratio === undefined ? 1 : MARGIN * this.#ratio;
  }

  /** Records that the endpoint counted `tokens` for `bytes` of input. */
  learn(bytes: number, tokens: number): void {
    if (tokens > 0) this.#ratio = Math.max(this.#ratio ?? 0, tokens / bytes);
  }

  /** Throws BudgetSpent if another call of `tokens` would leave less than `keep`. */
  require(tokens: number, keep: BudgetLimits): void {
    const { left } = this;
    if (left.ms - keep.ms <= 0) throw new BudgetSpent("ms");
    if (left.calls - keep.calls < 1) throw new BudgetSpent("calls");
    if (left.tokens - keep.tokens < tokens) throw new BudgetSpent("tokens");
  }

  /** Returns a share of the limits, to keep for later steps. */
  share(part: number, calls: number): BudgetLimits {
    const { tokens, ms } = this.limits;
    return { tokens: Math.floor(tokens * part), calls, ms: Math.floor(ms * part) };
  }
}

/** Dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
}

/** Builds the usage object of the output data. */
export function buildUsage({ calls, tokens, output }: SpentSoFar, price: Price | undefined): Usage {
  const input = Math.max(0, tokens - output);
  const cost = price && (input * price.input + output * price.output) / 1_000_000;
  const dollars = cost !== undefined && { cost_dollars: Number(cost.toFixed(6)) };
  return { calls, input_tokens: input, output_tokens: output, ...dollars };
}

import type { Clock } from "../../../core/clock.js";
import type { Usage } from "../../../core/researcher.js";

/** The limits of one conversation. */
export interface BudgetLimits {
  /** The most input and output tokens together. */
  tokens: number;
  /** The most requests, including refused and repeated ones. */
  calls: number;
  /** The most time since the research began, including waits, ms. */
  ms: number;
}

/** The flag that sets each limit, for messages. */
export const FLAGS = { tokens: "--model-tokens", calls: "--model-calls", ms: "--model-time" };

/** Thrown if a limit of the budget does not allow the next request, or ended a request. `what` names the limit. */
export class BudgetExceededError extends Error {
  override name = "BudgetExceededError";
  constructor(readonly what: keyof BudgetLimits) {
    super(`the limit of ${FLAGS[what]} was reached`);
  }
}

/** What a conversation has used so far. `output` is the part of `tokens` that the model wrote. */
export interface SpentSoFar extends BudgetLimits {
  output: number;
}

/** An estimate assumes this many times the highest ratio of tokens to bytes so far. */
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

  /** Adds to what was used. `ms` is only for the time of an earlier process; that of this one is measured. */
  charge(more: Partial<SpentSoFar>): void {
    for (const what of ["tokens", "calls", "ms", "output"] as const) this.#spent[what] += more[what] ?? 0;
  }

  /** Estimates the most tokens that `bytes` of input can cost: one per byte until the endpoint has reported usage. */
  estimate(bytes: number): number {
    return Math.ceil(bytes * this.#tokensPerByte);
  }

  /** Returns how many bytes of input `tokens` allow. */
  toBytes(tokens: number): number {
    return Math.floor(tokens / this.#tokensPerByte);
  }

  get #tokensPerByte(): number {
    return this.#ratio === undefined ? 1 : MARGIN * this.#ratio;
  }

  /** Records that the endpoint counted `tokens` in `bytes` of input. */
  learn(bytes: number, tokens: number): void {
    if (tokens > 0) this.#ratio = Math.max(this.#ratio ?? 0, tokens / bytes);
  }

  /** Throws BudgetExceededError if a request of `tokens` would leave less than `keep`. */
  require(tokens: number, keep: BudgetLimits): void {
    const { left } = this;
    if (left.ms - keep.ms <= 0) throw new BudgetExceededError("ms");
    if (left.calls - keep.calls < 1) throw new BudgetExceededError("calls");
    if (left.tokens - keep.tokens < tokens) throw new BudgetExceededError("tokens");
  }

  /** Returns a share of the tokens and time, with a number of calls, to reserve for later steps. */
  share(part: number, calls: number): BudgetLimits {
    const { tokens, ms } = this.limits;
    return { tokens: Math.floor(tokens * part), calls, ms: Math.floor(ms * part) };
  }
}

/** Prices in dollars per million tokens. */
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

import type { Clock } from "../../../core/clock.js";
import type { Usage } from "../../../core/researcher.js";

/** What one conversation may spend at the endpoint. */
export interface BudgetLimits {
  /** Input and output together. */
  tokens: number;
  /** Requests, those that are refused or repeated included. */
  calls: number;
  /** Milliseconds since the research began, waits included. */
  ms: number;
}

/** The flags that set the limits, for people. */
export const FLAGS = { tokens: "--model-tokens", calls: "--model-calls", ms: "--model-time" };

/** A limit does not allow the next request. */
export class BudgetSpent extends Error {
  override name = "BudgetSpent";
  constructor(readonly what: keyof BudgetLimits) {
    super(`the limit of ${FLAGS[what]} was reached`);
  }
}

/** What was spent. `output` is the part of the tokens that the model wrote. */
export interface SpentSoFar extends BudgetLimits {
  output: number;
}

/** An estimate is this much above the highest ratio of tokens to bytes that was seen. */
const MARGIN = 1.5;

/** What is left of the limits of one conversation. */
export class Budget {
  readonly #spent: SpentSoFar = { tokens: 0, calls: 0, ms: 0, output: 0 };
  /** The highest ratio of input tokens to bytes seen; none before the first usage. */
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

  /** Counts what was spent. `ms` is only for time that did not pass since the start: that of an earlier process. */
  charge(more: Partial<SpentSoFar>): void {
    for (const what of ["tokens", "calls", "ms", "output"] as const) this.#spent[what] += more[what] ?? 0;
  }

  /** What `bytes` of input cost at most, in tokens: one for each, until a usage has shown what they do cost. */
  estimate(bytes: number): number {
    return Math.ceil(bytes * this.#tokensPerByte);
  }

  /** How many bytes of input `tokens` pay for. */
  toBytes(tokens: number): number {
    return Math.floor(tokens / this.#tokensPerByte);
  }

  get #tokensPerByte(): number {
    return this.#ratio === undefined ? 1 : MARGIN * this.#ratio;
  }

  /** The endpoint has counted `tokens` in `bytes` of input. */
  learn(bytes: number, tokens: number): void {
    if (tokens > 0) this.#ratio = Math.max(this.#ratio ?? 0, tokens / bytes);
  }

  /** Throws BudgetSpent unless one more call of `tokens` leaves `keep`. */
  require(tokens: number, keep: BudgetLimits): void {
    const { left } = this;
    if (left.ms - keep.ms <= 0) throw new BudgetSpent("ms");
    if (left.calls - keep.calls < 1) throw new BudgetSpent("calls");
    if (left.tokens - keep.tokens < tokens) throw new BudgetSpent("tokens");
  }

  /** A share of the limits, kept back for what comes later. */
  share(part: number, calls: number): BudgetLimits {
    const { tokens, ms } = this.limits;
    return { tokens: Math.floor(tokens * part), calls, ms: Math.floor(ms * part) };
  }
}

/** What a million tokens cost, in dollars. */
export interface Price {
  input: number;
  output: number;
}

/** What was used, as output data carries it. */
export function buildUsage({ calls, tokens, output }: SpentSoFar, price: Price | undefined): Usage {
  const input = Math.max(0, tokens - output);
  const cost = price && (input * price.input + output * price.output) / 1_000_000;
  const dollars = cost !== undefined && { cost_dollars: Number(cost.toFixed(6)) };
  return { calls, input_tokens: input, output_tokens: output, ...dollars };
}

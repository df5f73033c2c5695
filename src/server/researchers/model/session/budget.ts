import type { Clock } from "../../../../clock.js";

/** What one conversation may spend at the endpoint. */
export interface BudgetLimits {
  /** Input and output together. */
  tokens: number;
  /** Requests, those that are refused or repeated included. */
  calls: number;
  /** Milliseconds since the research began, waits included. */
  ms: number;
}

/** Which limit does not allow the next request. */
export class BudgetSpent extends Error {
  override name = "BudgetSpent";
  constructor(readonly what: keyof BudgetLimits) {
    super(`the limit of ${what} is reached`);
  }
}

/** What was spent. `output` is the part of the tokens that the model wrote. */
export interface Spent extends BudgetLimits {
  output: number;
}

const NOTHING: Spent = { tokens: 0, calls: 0, ms: 0, output: 0 };
/** An estimate is this much above the highest ratio of tokens to bytes that was seen. */
const MARGIN = 1.5;

/** What is left of the limits of one conversation. */
export class Budget {
  #spent = NOTHING;
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
    const elapsed = this.clock.monotonic() - this.#start;
    const { tokens, calls, ms } = this.limits;
    return {
      tokens: tokens - this.#spent.tokens,
      calls: calls - this.#spent.calls,
      ms: ms - this.#spent.ms - elapsed,
    };
  }

  /** Counts what was spent. `ms` is only for time that did not pass since the start: that of an earlier process. */
  charge({ tokens = 0, calls = 0, ms = 0, output = 0 }: Partial<Spent>): void {
    const spent = this.#spent;
    this.#spent = {
      tokens: spent.tokens + tokens,
      calls: spent.calls + calls,
      ms: spent.ms + ms,
      output: spent.output + output,
    };
  }

  get spent(): Readonly<Spent> {
    return this.#spent;
  }

  /** What `bytes` of input cost at most, in tokens: one for each, until a usage has shown what they do cost. */
  estimate(bytes: number): number {
    return Math.ceil(bytes * (this.#ratio === undefined ? 1 : MARGIN * this.#ratio));
  }

  /** How many bytes of input `tokens` pay for. */
  bytesFor(tokens: number): number {
    return Math.floor(tokens / (this.#ratio === undefined ? 1 : MARGIN * this.#ratio));
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

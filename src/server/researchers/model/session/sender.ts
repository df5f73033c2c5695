import type { Clock } from "../../../../clock.js";
import type { ExchangeStore } from "../../../conversations/exchange-store.js";
import { ResearchFailure } from "../../researcher.js";
import { bytesOf, type ChatRequest } from "../endpoint/dialect.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { Outcome } from "../endpoint/outcome.js";
import { type Budget, type BudgetLimits, BudgetSpent } from "./budget.js";
import type { ExchangeRecord, KeptReply } from "./exchange-record.js";
import { retryDelay } from "./retry-delay.js";
import { untilStored } from "./until-stored.js";
import { within } from "./within.js";

/** A request does not fit into the model's context. */
export class ContextExceeded extends Error {
  override name = "ContextExceeded";
}

/** The model has not replied as it was asked to, also when that was asked for again. */
export class UnreadableReply extends ResearchFailure {}

export interface SenderOptions {
  requestId: string;
  endpoint: Endpoint;
  budget: Budget;
  exchanges: ExchangeStore;
  clock: Clock;
  /** Told what the person who runs the service should know. */
  notice: (line: string) => void;
  signal: AbortSignal;
}

/** A wait over this is announced, ms (contract §5: nothing sleeps long in silence). */
const SILENT_WAIT_MS = 5_000;

/** Sends requests within the budget of one conversation, repeats those that failed, and records every one. */
export class Sender {
  constructor(private readonly options: SenderOptions) {}

  /**
   * The reply to a request; `keep` is left of the budget. Throws BudgetSpent, ContextExceeded, a ResearchFailure that
   * names the endpoint, or `signal.reason`.
   */
  async send(request: ChatRequest, hash: string, keep: BudgetLimits): Promise<KeptReply> {
    const { budget, endpoint } = this.options;
    for (let failures = 0; ; ) {
      const estimate = budget.estimate(bytesOf(endpoint.model, request)) + request.maxTokens;
      budget.require(estimate, keep);
      const outcome = await this.#attempt(request, { hash, estimate }, budget.left.ms - keep.ms);
      if (outcome.kind === "reply") return keptOf(outcome);
      if (outcome.kind === "unsupported") continue;
      if (outcome.kind === "refused") throw this.failure(outcome.message);
      if (outcome.kind === "too-long") throw new ContextExceeded(outcome.message);
      failures += 1;
      const waitMs = retryDelay(outcome, failures);
      if (waitMs === undefined) throw this.failure(sentenceOf(outcome));
      await this.#wait(waitMs, keep, sentenceOf(outcome));
    }
  }

  /** `message` is a phrase that follows the name of the endpoint. */
  failure(message: string): ResearchFailure {
    return new ResearchFailure(`The model endpoint ${this.options.endpoint.origin} ${message}.`);
  }

  /** One request, recorded before it leaves and when it has ended. */
  async #attempt(
    request: ChatRequest,
    { hash, estimate }: { hash: string; estimate: number },
    limitMs: number,
  ): Promise<Outcome> {
    const { budget, clock, endpoint, signal } = this.options;
    await this.#record({ kind: "sent", hash, estimate });
    budget.charge({ calls: 1, tokens: estimate });
    const start = clock.monotonic();
    const ended = async (tokens: number, reply?: KeptReply) => {
      budget.charge({ tokens: tokens - estimate, output: reply?.outputTokens ?? 0 });
      const ms = Math.round(clock.monotonic() - start);
      await this.#record({ kind: "ended", hash, tokens, ms, ...(reply && { reply }) });
    };
    const work = (until: AbortSignal) => endpoint.send(request, until);
    try {
      const outcome = await within(clock, limitMs, signal, new BudgetSpent("ms"), work);
      await ended(costOf(outcome, estimate), outcome.kind === "reply" ? keptOf(outcome) : undefined);
      return outcome;
    } catch (error) {
      if (error instanceof BudgetSpent) await ended(estimate);
      throw error;
    }
  }

  async #wait(ms: number, keep: BudgetLimits, why: string): Promise<void> {
    const { budget, clock, endpoint, notice, signal } = this.options;
    if (ms >= budget.left.ms - keep.ms) throw new BudgetSpent("ms");
    if (ms > SILENT_WAIT_MS) {
      const until = new Date(clock.now() + ms).toISOString();
      notice(`the model endpoint ${endpoint.origin} ${why}; it is asked again at ${until}`);
    }
    await clock.sleep(ms, signal);
  }

  async #record(record: ExchangeRecord): Promise<void> {
    const { exchanges, requestId } = this.options;
    await untilStored(() => exchanges.append(requestId, record), this.options);
  }
}

/** A stream that broke off may have been counted whole; what was refused was not. In tokens. */
function costOf(outcome: Outcome, estimate: number): number {
  if (outcome.kind === "cut" || outcome.kind === "unreachable") return estimate;
  if (outcome.kind !== "reply") return 0;
  return outcome.usage === undefined ? estimate : outcome.usage.prompt + outcome.usage.completion;
}

function keptOf({ text, finish, usage }: Extract<Outcome, { kind: "reply" }>): KeptReply {
  return { text, finish, ...(usage && { promptTokens: usage.prompt, outputTokens: usage.completion }) };
}

function sentenceOf({ kind, message }: Outcome & { message: string }): string {
  if (kind === "unreachable") return `could not be reached: ${message}`;
  return kind === "busy" ? `is busy (${message})` : `broke off its reply (${message})`;
}

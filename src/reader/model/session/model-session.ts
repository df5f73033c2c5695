import { createHash } from "node:crypto";
import { type Clock, runWithDeadline } from "../../../core/clock.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";
import { type ExchangeStore, ResearchFailure } from "../../../core/researcher.js";
import { describeError, shortenLine } from "../../../core/text/format-text.js";
import type { ChatEndpoint } from "../endpoint/chat-endpoint.js";
import { type ChatRequest, countBodyBytes, type Message } from "../endpoint/chat-request.js";
import { findJson, removeThoughts } from "../endpoint/json-reply.js";
import type { ModelReply, NoReply } from "../endpoint/model-answer.js";
import { type ExchangeRecord, Transcript } from "./exchange-transcript.js";
import { type Budget, BudgetExceededError, type BudgetLimits } from "./model-budget.js";

/** Thrown by `ModelSession.ask` if the request exceeds the model's context; a shorter request may succeed. */
export class ContextExceededError extends ResearchFailure {}

/** Thrown by `ModelSession.ask` if no reply had the required form, after all tries. */
export class UnreadableReplyError extends ResearchFailure {
  /** `isCut`: whether the last reply was cut off at the output limit. */
  constructor(
    message: string,
    readonly isCut: boolean,
  ) {
    super(message);
  }
}

/** The value that was read from a reply, or why the reply is invalid, as a phrase for the model. */
export type ReplyReading<T> = { value: T } | { wrong: string };

/** The instructions of one step, and the form that the reply must have. */
export interface Prompt {
  name: string;
  instructions: string;
  schema: JsonSchema;
  /** The most requests until the reply is valid; default 2. */
  tries?: number;
}

/** One step of work for a model. */
export interface Task extends Prompt {
  input: string;
  /** The output limit, in tokens; the budget may lower it. */
  outputTokens: number;
  /** The part of the budget that must remain afterwards. */
  keep: BudgetLimits;
}

export interface SessionOptions {
  requestId: string;
  endpoint: ChatEndpoint;
  budget: Budget;
  exchanges: ExchangeStore;
  clock: Clock;
  /** Called with a line for the operator of the service. */
  notice: (line: string) => void;
  /** Called whenever a request has used a part of the budget. */
  spent: () => void;
  signal: AbortSignal;
}

/** The shortest output limit that allows a useful reply, in tokens. */
export const LEAST_OUTPUT = 200;
/** How much of an unreadable reply is sent back to the model for correction, in characters. */
const SHOWN_REPLY = 2_000;
/** How much of such a reply is shown to a person, in characters. */
const SHOWN_WORDS = 300;
/** An endpoint that counts less than one input token per this many bytes has silently truncated the input. */
const BYTES_PER_TOKEN = 10;
/** The most tries of a request by kind of failure, and the first wait between them, ms, which doubles each time. */
const MAX_TRIES = { busy: 6, cut: 3, unreachable: 3 };
const FIRST_WAIT_MS = 1_000;
/** The longest wait without a notice, ms (contract §5: nothing sleeps long in silence). */
const SILENT_WAIT_MS = 5_000;
/** The wait before retrying a failed read or write of the store, ms. */
const STORE_WAIT_MS = 5_000;

/**
 * Sends the requests of one conversation to the model. Stays within the budget, records each request, retries failures,
 * and answers requests that an earlier process has already sent with the stored replies.
 */
export class ModelSession {
  /** Whether the endpoint seems to have truncated its input. */
  isContextCut = false;
  /** The exchanges of an earlier process; undefined until the first request. */
  #earlier: Transcript | undefined;
  constructor(private readonly options: SessionOptions) {}

  get budget(): Budget {
    return this.options.budget;
  }

  /** Returns how many more bytes of input the budget allows, after the output limit of `task` is reserved. */
  measureRoom(task: Task): number {
    const { budget } = this.options;
    const tokens = budget.left.tokens - task.keep.tokens - task.outputTokens;
    return budget.toBytes(tokens) - this.#countBytes(buildChatRequest(task));
  }

  /**
   * Asks the model until `read` accepts the reply. Each retry tells the model what was wrong; `isLast` tells `read` that no
   * retry follows. Throws BudgetExceededError, ContextExceededError, UnreadableReplyError, another ResearchFailure that names the endpoint, or
   * the reason of the abort.
   */
  async ask<T>(
    task: Task,
    read: (reply: unknown, isLast: boolean) => ReplyReading<T> | Promise<ReplyReading<T>>,
  ): Promise<T> {
    const { tries = 2 } = task;
    const added: Message[] = [];
    let wrong = "";
    let complaint = "";
    let isCut = false;
    for (let nth = 1; nth <= tries; nth++) {
      const reply = await this.#sendRequest(buildChatRequest(task, added), task.keep);
      isCut = reply.finish === "length";
      const value = findJson(reply.text, !isCut);
      const reading = value === undefined ? { wrong: "it is not JSON" } : await read(value, nth === tries);
      if ("value" in reading) return reading.value;
      const words = value === undefined && !isCut ? removeThoughts(reply.text) : "";
      // A model that refuses explains why in plain words.
      complaint = words && ` and said ${JSON.stringify(shortenLine(words, SHOWN_WORDS))}`;
      wrong = isCut ? "it was cut off at the limit of the output" : reading.wrong;
      const content = `That reply is invalid: ${wrong}. Give all of it once more, mended: the JSON value and nothing else.`;
      added.push({ role: "assistant", content: reply.text.slice(0, SHOWN_REPLY) }, { role: "user", content });
    }
    throw new UnreadableReplyError(
      this.#createFailure(`did not reply as asked: ${wrong}${complaint}`).message,
      isCut,
    );
  }

  async #sendRequest(asked: ChatRequest, keep: BudgetLimits): Promise<ModelReply> {
    const { budget, endpoint, exchanges, requestId, spent } = this.options;
    const bytes = this.#countBytes(asked);
    const affordable = budget.left.tokens - keep.tokens - budget.estimate(bytes);
    const request = { ...asked, maxTokens: Math.max(LEAST_OUTPUT, Math.min(asked.maxTokens, affordable)) };
    const identity = JSON.stringify([endpoint.origin, endpoint.model, request]);
    const hash = createHash("sha256").update(identity).digest("hex");
    this.#earlier ??= new Transcript(await this.#waitUntilStored(() => exchanges.read(requestId)));
    const earlier = this.#earlier.take(hash);
    budget.charge(earlier.cost);
    const reply = earlier.reply ?? (await this.#send(request, hash, keep));
    if (reply.promptTokens !== undefined) {
      budget.learn(this.#countBytes(request), reply.promptTokens);
      this.#checkContext(request, reply.promptTokens);
    }
    spent();
    return reply;
  }

  #countBytes(request: ChatRequest): number {
    return countBodyBytes(this.options.endpoint.model, request);
  }

  #checkContext({ messages }: ChatRequest, tokens: number): void {
    const { endpoint, notice } = this.options;
    const bytes = Buffer.byteLength(messages.map(({ content }) => content).join("\n"));
    if (tokens * BYTES_PER_TOKEN >= bytes || this.isContextCut) return;
    this.isContextCut = true;
    notice(
      `the model endpoint ${endpoint.origin} counted ${tokens} tokens in ${bytes} bytes of input, so it has cut the input off: give the model a longer context`,
    );
  }

  async #send(request: ChatRequest, hash: string, keep: BudgetLimits): Promise<ModelReply> {
    const { budget, clock, endpoint, notice, signal } = this.options;
    for (let failures = 0; ; ) {
      const estimate = budget.estimate(this.#countBytes(request)) + request.maxTokens;
      budget.require(estimate, keep);
      const outcome = await this.#tryOnce(request, { hash, estimate }, budget.left.ms - keep.ms);
      if (!("kind" in outcome)) return outcome;
      if (outcome.kind === "unsupported") continue;
      const { message } = outcome;
      if (outcome.kind === "too-long")
        throw new ContextExceededError(`The context of the model is too short for the request (${message}).`);
      failures += 1;
      if (outcome.kind === "refused" || failures >= MAX_TRIES[outcome.kind])
        throw this.#createFailure(message);
      // Wait at least as long as the endpoint's `Retry-After`.
      const waitMs = outcome.afterMs ?? FIRST_WAIT_MS * 2 ** (failures - 1);
      if (waitMs >= budget.left.ms - keep.ms) throw new BudgetExceededError("ms");
      if (waitMs > SILENT_WAIT_MS) {
        const until = new Date(clock.now() + waitMs).toISOString();
        notice(`the model endpoint ${endpoint.origin} ${message}; trying again at ${until}`);
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** Sends one request. Records it before it is sent and after it has ended. */
  async #tryOnce(
    request: ChatRequest,
    { hash, estimate }: { hash: string; estimate: number },
    limitMs: number,
  ): Promise<ModelReply | NoReply> {
    const { budget, clock, endpoint, signal } = this.options;
    await this.#record({ kind: "sent", hash, estimate });
    budget.charge({ calls: 1, tokens: estimate });
    const start = clock.monotonic();
    const noteEnded = async (tokens: number, reply?: ModelReply) => {
      budget.charge({ tokens: tokens - estimate, output: reply?.outputTokens ?? 0 });
      const ms = Math.round(clock.monotonic() - start);
      await this.#record({ kind: "ended", hash, tokens, ms, ...(reply && { reply }) });
    };
    const sendOnce = (until: AbortSignal) => endpoint.send(request, until);
    try {
      const outcome = await runWithDeadline(clock, limitMs, signal, new BudgetExceededError("ms"), sendOnce);
      await noteEnded(computeTokenCost(outcome, estimate), "kind" in outcome ? undefined : outcome);
      return outcome;
    } catch (error) {
      if (error instanceof BudgetExceededError) await noteEnded(estimate);
      throw error;
    }
  }

  #record(record: ExchangeRecord): Promise<void> {
    const { exchanges, requestId } = this.options;
    return this.#waitUntilStored(() => exchanges.append(requestId, record));
  }

  /** Repeats `work` until the store answers, because a full disk or a lost database must not lose paid replies. */
  async #waitUntilStored<T>(work: () => Promise<T>): Promise<T> {
    const { budget, clock, notice, signal } = this.options;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        const why = `the exchanges with the model cannot be stored: ${describeError(error)}`;
        if (budget.left.ms <= STORE_WAIT_MS)
          throw new ResearchFailure(`The research gave no result: ${why}.`);
        notice(why);
      }
      await clock.sleep(STORE_WAIT_MS, signal);
    }
  }

  /** Creates a failure from a phrase whose subject is the endpoint. */
  #createFailure(message: string): ResearchFailure {
    return new ResearchFailure(`The model endpoint ${this.options.endpoint.origin} ${message}.`);
  }
}

function buildChatRequest(task: Task, added: readonly Message[] = []): ChatRequest {
  const { name, schema, instructions, input, outputTokens } = task;
  const asked: Message[] = [
    { role: "system", content: instructions },
    { role: "user", content: input },
  ];
  return { messages: [...asked, ...added], schema: { name, schema }, maxTokens: outputTokens };
}

/** Returns the cost of a request in tokens. An interrupted stream may be billed as a whole; a refused request is not. */
function computeTokenCost(outcome: ModelReply | NoReply, estimate: number): number {
  if ("kind" in outcome) return outcome.kind === "cut" || outcome.kind === "unreachable" ? estimate : 0;
  return outcome.promptTokens === undefined ? estimate : outcome.promptTokens + (outcome.outputTokens ?? 0);
}

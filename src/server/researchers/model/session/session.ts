import { createHash } from "node:crypto";
import type { JsonSchema } from "../../../../protocol/conversation.js";
import { bytesOf, type ChatRequest, type Message } from "../endpoint/dialect.js";
import { jsonIn } from "../endpoint/json-reply.js";
import type { Budget, BudgetLimits } from "./budget.js";
import type { KeptReply } from "./exchange-record.js";
import { Sender, type SenderOptions, UnreadableReply } from "./sender.js";
import type { Transcript } from "./transcript.js";
import { untilAborted } from "./until-aborted.js";

/** What a model is to do. */
export interface Task {
  /** `[a-z_]+`, for the endpoint. */
  name: string;
  instructions: string;
  input: string;
  schema: JsonSchema;
  /** Limit of the output, in tokens; less where the budget has less. */
  outputTokens: number;
  /** What must be left of the budget afterwards. */
  keep: BudgetLimits;
  /** How often it is asked for at most; 2 if left out. */
  tries?: number;
}

/** What a reply is read as, or what is wrong with it as a phrase for the model. */
export type Reading<T> = { value: T } | { wrong: string };

export interface SessionOptions extends SenderOptions {
  /** What an earlier process has asked already. */
  transcript: Transcript;
  /** Told when something was spent. */
  spent: () => void;
}

/** A reply cannot be shorter and hold anything. In tokens. */
export const LEAST_OUTPUT = 200;
/** How much of an unreadable reply a model is shown when it is asked to mend it, in characters. */
const SHOWN_REPLY = 2_000;
/** Fewer input tokens than one for this many bytes: the endpoint has cut the input off and said nothing. */
const BYTES_PER_TOKEN = 10;

/** Asks the model on behalf of one conversation. */
export class ModelSession {
  /** Whether the endpoint seems to have read less than it was sent. */
  isContextCut = false;
  readonly #sender: Sender;
  constructor(private readonly options: SessionOptions) {
    this.#sender = new Sender(options);
  }

  get budget(): Budget {
    return this.options.budget;
  }

  /** How many bytes more of input the budget allows; `outputTokens` of the task are set aside for its reply. */
  room(task: Task): number {
    const { budget, endpoint } = this.options;
    const bytes = bytesOf(endpoint.model, requestOf(task, messagesOf(task)));
    return budget.bytesFor(budget.left.tokens - task.keep.tokens - task.outputTokens) - bytes;
  }

  /** `work`, or a rejection with the reason of the stop. */
  interruptible<T>(work: Promise<T>): Promise<T> {
    return untilAborted(this.options.signal, work);
  }

  /** Whether the text holds the key of the endpoint. */
  isSecret(text: string): boolean {
    return this.options.endpoint.hide(text) !== text;
  }

  /**
   * The model's reply as `read` takes it; one that it does not take is asked for again, with what is wrong. `isLast`
   * says that it will not be. Throws BudgetSpent, ContextExceeded, an UnreadableReply or another ResearchFailure that
   * names the endpoint, or the reason of the stop.
   */
  async ask<T>(
    task: Task,
    read: (reply: unknown, isLast: boolean) => Reading<T> | Promise<Reading<T>>,
  ): Promise<T> {
    const messages = messagesOf(task);
    const { tries = 2 } = task;
    let wrong = "";
    for (let nth = 1; nth <= tries; nth++) {
      const reply = await this.#reply(task, messages);
      const value = jsonIn(reply.text, reply.finish !== "length");
      const reading = value === undefined ? { wrong: "it is not JSON" } : await read(value, nth === tries);
      if ("value" in reading) return reading.value;
      wrong = reply.finish === "length" ? "it was cut off at the limit of the output" : reading.wrong;
      messages.push(
        { role: "assistant", content: reply.text.slice(0, SHOWN_REPLY) },
        {
          role: "user",
          content: `That reply is invalid: ${wrong}. Give all of it once more, mended: the JSON value and nothing else.`,
        },
      );
    }
    throw new UnreadableReply(this.#sender.failure(`did not reply as asked: ${wrong}`).message);
  }

  /** What an earlier process got for the same request is not paid for a second time. */
  async #reply(task: Task, messages: readonly Message[]): Promise<KeptReply> {
    const { transcript, budget, endpoint } = this.options;
    const request = this.#affordable(task, messages);
    const hash = createHash("sha256")
      .update(JSON.stringify([endpoint.origin, endpoint.model, request]))
      .digest("hex");
    const known = transcript.take(hash);
    budget.charge(known.cost);
    if (known.reply === undefined) budget.charge(transcript.takeRest());
    const reply = known.reply ?? (await this.#sender.send(request, hash, task.keep));
    if (reply.promptTokens !== undefined) budget.learn(bytesOf(endpoint.model, request), reply.promptTokens);
    this.options.spent();
    this.#checkContext(request, reply);
    return reply;
  }

  /** The request with as much output as the budget allows. */
  #affordable(task: Task, messages: readonly Message[]): ChatRequest {
    const { budget, endpoint } = this.options;
    const request = requestOf(task, messages);
    const input = budget.estimate(bytesOf(endpoint.model, request));
    const affordable = budget.left.tokens - task.keep.tokens - input;
    return { ...request, maxTokens: Math.max(LEAST_OUTPUT, Math.min(task.outputTokens, affordable)) };
  }

  #checkContext(request: ChatRequest, { promptTokens }: KeptReply): void {
    const { endpoint, notice } = this.options;
    const bytes = Buffer.byteLength(request.messages.map(({ content }) => content).join("\n"));
    if (promptTokens === undefined || promptTokens * BYTES_PER_TOKEN >= bytes || this.isContextCut) return;
    this.isContextCut = true;
    notice(
      `the model endpoint ${endpoint.origin} counted ${promptTokens} tokens in ${bytes} bytes of input, so it has cut the input off: give the model a longer context`,
    );
  }
}

function messagesOf({ instructions, input }: Task): Message[] {
  return [
    { role: "system", content: instructions },
    { role: "user", content: input },
  ];
}

function requestOf({ name, schema, outputTokens }: Task, messages: readonly Message[]): ChatRequest {
  return { messages, schema: { name, schema }, maxTokens: outputTokens };
}

import type { CallOptions, StatusData } from "../client/client.js";
import { ResearchError } from "../client/errors.js";
import type { WatchOptions } from "../client/watch/types.js";
import { systemClock } from "../clock.js";
import { checkSchema, problemText } from "../json-schema/check.js";
import { keyReader } from "../machine/key-file.js";
import { Machine } from "../machine/machine.js";
import { type CreateBody, isFinal, requestBody } from "../protocol/conversation.js";
import { follow } from "../workflows/follow.js";
import type { Ports } from "../workflows/ports.js";
import { fetchResult, whyNoResult } from "../workflows/results.js";
import { stopAll } from "../workflows/stop.js";
import { submitWithinQuota } from "../workflows/submit.js";
import { resolveTarget } from "../workflows/targets.js";
import { runBatch } from "./run-batch.js";
import type {
  BatchEvent,
  BatchOptions,
  BatchRequest,
  ListedRequest,
  OpenOptions,
  OutputOptions,
  Research,
  ResearchRequest,
  Submission,
  SubmitOptions,
} from "./types.js";

const DEFAULT_LIMIT = 20;

/** The workflows on this machine's settings and history. */
export class MachineResearch implements Research {
  readonly #machine: Machine;
  readonly #options: OpenOptions;

  private constructor(options: OpenOptions, machine: Machine) {
    this.#machine = machine;
    this.#options = options;
  }

  /** Waits for nothing but a key file that a program writes. */
  static async open(options: OpenOptions): Promise<MachineResearch> {
    const { env = process.env, ...choices } = options;
    const readKey = await keyReader(env, systemClock, new AbortController().signal);
    const machine = new Machine({
      ...{ env, platform: process.platform, clock: systemClock, choices, readKey },
      onMadePrivate: (text) => process.emitWarning(text),
    });
    return new MachineResearch(options, machine);
  }

  async submit(request: ResearchRequest | string, options: SubmitOptions = {}): Promise<Submission> {
    const body = await bodyOf(request, options.signal);
    const { data, localId, notSaved } = await submitWithinQuota(this.#ports, body, {
      ...options,
      limit: this.#limit,
    });
    return { requestId: data.request_id, localId, data, notSaved };
  }

  async *watch(ids: string | readonly string[], options: WatchOptions = {}) {
    const ports = this.#ports;
    yield* follow(
      ports,
      [ids].flat().map((id) => resolveTarget(ports, id)),
      options,
    );
  }

  async output<Output>(id: string, { schema, signal }: OutputOptions<Output> = {}): Promise<Output> {
    const ports = this.#ports;
    const target = resolveTarget(ports, id);
    const { requestId } = target;
    const { value } = await fetchResult(ports, target, { signal });
    // Without a schema the caller states the type.
    if (!schema) return value as Output;
    const result = await schema["~standard"].validate(value);
    if (!result.issues) return result.value;
    const why = result.issues.map(({ message }) => message).join("; ");
    throw new ResearchError("SCHEMA_MISMATCH", `the result of ${requestId} does not fit: ${why}`, {
      requestId,
    });
  }

  async run<Output>(
    request: ResearchRequest | string,
    options: OutputOptions<Output> & SubmitOptions = {},
  ): Promise<Output> {
    const { signal } = options;
    const { requestId } = await this.submit(request, options);
    for await (const event of this.watch(requestId, { answered: true, ...(signal && { signal }) })) {
      if (event.kind === "given-up") throw event.error;
      if (event.kind !== "state") continue;
      const { status } = event;
      if (isFinal(status) && status !== "COMPLETED")
        throw await whyNoResult(this.#ports, requestId, status, { signal });
    }
    return this.output(requestId, options);
  }

  async stop(ids: string | readonly string[], options: CallOptions = {}): Promise<StatusData[]> {
    const ports = this.#ports;
    const targets = [ids].flat().map((id) => resolveTarget(ports, id));
    const stopped: StatusData[] = [];
    let failure: { error: unknown } | undefined;
    for await (const answer of stopAll(ports, targets, options)) {
      if (answer.kind === "answered") stopped.push(answer.data);
      else failure ??= answer;
    }
    if (failure) throw failure.error;
    return stopped;
  }

  async list({
    limit = DEFAULT_LIMIT,
    status,
  }: {
    limit?: number;
    status?: string;
  } = {}): Promise<ListedRequest[]> {
    const wanted = status?.toUpperCase();
    const accepts = (entry: ListedRequest) => wanted === undefined || entry.status.toUpperCase() === wanted;
    return this.#machine.history?.list({ limit, accepts }) ?? [];
  }

  batch(
    requests: Iterable<BatchRequest | string> | AsyncIterable<BatchRequest | string>,
    options: BatchOptions,
  ): AsyncGenerator<BatchEvent, void> {
    return runBatch({ ports: this.#ports, limit: this.#limit, bodyOf }, requests, options);
  }

  async close(): Promise<void> {
    await this.#machine.close();
  }

  get #ports(): Ports {
    return this.#machine.ports;
  }

  get #limit(): number | undefined {
    return this.#machine.hourlyLimit(this.#options);
  }
}

/** What is sent. Throws TypeError for a blank prompt or an invalid schema; nothing was sent. */
async function bodyOf(request: ResearchRequest | string, signal?: AbortSignal): Promise<CreateBody> {
  const { prompt, schema } = typeof request === "string" ? { prompt: request, schema: undefined } : request;
  if (typeof prompt !== "string" || prompt.trim() === "") throw new TypeError("the prompt is blank");
  const problem = schema && (await checkSchema(schema, signal));
  if (problem)
    throw new TypeError(`the schema is an invalid JSON Schema: ${problemText(problem, "the top level")}`);
  return requestBody(prompt, schema, false);
}

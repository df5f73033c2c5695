import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { answer, type Behaviour, envelope, ok, refuse } from "./behaviours.js";
import { type FaultServer, type FaultServerOptions, faultServer, KEY, type Script } from "./fault-server.js";
import type { Operation, SeenRequest } from "./request-reader.js";

export { KEY };

interface Conversation {
  prompt: string;
  /** The state at each poll; the last one stays. */
  timeline: string[];
  polls: number;
  createdAt: string;
  schema: unknown;
}

export interface HappyOptions extends FaultServerOptions {
  /** Something else than the good answer, for some requests. */
  fault?: ((operation: Operation, nth: number, request: SeenRequest) => Behaviour | undefined) | undefined;
  /** Something else than the good answer, for the creates of some prompts. */
  refuses?: (prompt: string) => Behaviour | undefined;
  /** Milliseconds that a create takes to be answered; default 0. */
  createMs?: number;
  /** How old a conversation is when it is created, ms; default 0. */
  ageMs?: number;
  /** What the output of a completed conversation is; default a sentence about the prompt. */
  output?: (prompt: string) => unknown;
  /** What a completed conversation has cost; default: nothing is said. */
  dollars?: (prompt: string) => number;
}

/**
 * A tiny service that follows the interface: states by the number of polls instead of by time, so that a test
 * knows what is seen. A prompt that ends in `=> PENDING FAILED` says which states its polls see.
 */
export class HappyService {
  readonly conversations = new Map<string, Conversation>();
  readonly server: FaultServer;
  readonly #options: HappyOptions;

  private constructor(server: FaultServer, options: HappyOptions) {
    this.server = server;
    this.#options = options;
    server.script(this.#script);
  }

  static async start(options: HappyOptions = {}): Promise<HappyService> {
    return new HappyService(await faultServer(() => refuse(503, "NOT_YET"), options), options);
  }

  get url(): string {
    return this.server.url;
  }

  /** What a program needs to speak to it. */
  get env(): FaultServer["env"] {
    return this.server.env;
  }

  /** A conversation that was not created over HTTP. Returns its id. */
  add(prompt: string, schema?: unknown): string {
    const requestId = randomUUID();
    const states = /=>\s*(.+)$/.exec(prompt)?.[1] ?? "PENDING PROCESSING COMPLETED";
    const createdAt = new Date(Date.now() - (this.#options.ageMs ?? 0)).toISOString().replace("Z", "+00:00");
    this.conversations.set(requestId, { prompt, timeline: states.split(/\s+/), polls: 0, createdAt, schema });
    return requestId;
  }

  readonly #script: Script = (operation, nth, request) => {
    const fault = this.#options.fault?.(operation, nth, request);
    if (fault) return fault;
    if (request.headers.authorization !== `Bearer ${KEY}`) return refuse(401, "INVALID_API_KEY");
    // The body of a create is needed, so the answer is made only when the request is whole.
    return {
      act: async (socket) => {
        const reply = this.#reply(operation, request);
        if (operation === "create" && this.#options.createMs) await delay(this.#options.createMs);
        await reply.act(socket, request);
      },
    };
  };

  #reply(operation: Operation, request: SeenRequest): Behaviour {
    if (operation === "create") return this.#create(request);
    const requestId = decodeURIComponent(request.path.split("/").at(-2) ?? "");
    const conversation = this.conversations.get(requestId);
    if (operation === "other") return refuse(404, "NOT_FOUND");
    if (!conversation) return refuse(404, "REQUEST_NOT_FOUND");
    if (operation === "status") return this.#status(requestId, conversation);
    if (operation === "stop") return this.#stop(requestId, conversation);
    const status = stateOf(conversation);
    if (status !== "COMPLETED")
      return refuse(400, isOver(status) ? "OUTPUT_NOT_AVAILABLE" : "CONVERSATION_NOT_COMPLETED");
    const output = this.#options.output?.(conversation.prompt) ?? `An answer to: ${conversation.prompt}`;
    const cost_dollars = this.#options.dollars?.(conversation.prompt);
    const completed_at = new Date().toISOString();
    return ok({ request_id: requestId, status, output, completed_at, cost_dollars });
  }

  #create(request: SeenRequest): Behaviour {
    const body = JSON.parse(request.body.toString("utf8")) as Record<string, unknown>;
    if (typeof body.prompt !== "string" || !body.prompt.trim()) return refuse(400, "VALIDATION_ERROR");
    const refusal = this.#options.refuses?.(body.prompt);
    if (refusal) return refusal;
    const requestId = this.add(body.prompt, body.output_schema);
    const created_at = this.conversations.get(requestId)?.createdAt;
    return ok({ request_id: requestId, status: "PENDING", created_at });
  }

  #status(requestId: string, conversation: Conversation): Behaviour {
    conversation.polls++;
    const data = { request_id: requestId, status: stateOf(conversation), created_at: conversation.createdAt };
    return answer({ body: envelope(data) });
  }

  #stop(requestId: string, conversation: Conversation): Behaviour {
    const status = stateOf(conversation);
    if (isOver(status)) return refuse(400, `CONVERSATION_ALREADY_${status}`);
    conversation.timeline = ["STOPPED"];
    return ok({ request_id: requestId, status: "STOPPED", message: "The conversation was stopped." });
  }
}

/** Before the first poll it is what the first poll will see. */
function stateOf({ timeline, polls }: Conversation): string {
  return timeline[Math.min(Math.max(polls, 1), timeline.length) - 1] ?? "PENDING";
}

function isOver(status: string): boolean {
  return status === "COMPLETED" || status === "FAILED" || status === "STOPPED";
}

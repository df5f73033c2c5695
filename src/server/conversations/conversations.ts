import { isFinal, isRequestId, type KnownStatus } from "../../protocol/conversation.js";
import { ServiceError } from "../http/service-error.js";
import type { ResearchJob } from "../researchers/researcher.js";
import type { Journal } from "./journal.js";
import { nextStatus, type Trigger } from "./states.js";

/** One conversation request (§2) with what only the service knows of it. */
export interface Conversation {
  readonly request_id: string;
  readonly created_at: string;
  status: KnownStatus;
  /** The work to do; gone with the last state, so that a finished conversation is small. */
  job?: ResearchJob;
  completed_at?: string;
  /** Of a COMPLETED one. */
  output?: unknown;
  /** Of a FAILED one: a sentence for its client. */
  reason?: string;
}

/** What a last state brings with it. */
export type Ending = Pick<Conversation, "completed_at" | "output" | "reason">;

/** All conversations of the service. A state is visible only when the journal has it. */
export class Conversations {
  readonly #all = new Map<string, Conversation>();
  /** The move that is being written, by request id: one at a time, so that the journal has their true order. */
  readonly #moving = new Map<string, Promise<void>>();
  constructor(private readonly journal: Journal) {}

  /** Adds a PENDING conversation; `key` and `at` (epoch ms) are what the hourly window needs after a restart. */
  async create(job: ResearchJob, created_at: string, counted: { key: string; at: number }) {
    const { request_id } = job;
    await this.journal.append({ kind: "created", created_at, job, ...counted });
    return this.restore({ request_id, created_at, status: "PENDING", job });
  }

  /** Puts back one that the journal already has. */
  restore(conversation: Conversation): Conversation {
    this.#all.set(conversation.request_id, conversation);
    return conversation;
  }

  /** The conversation of that id, or a ServiceError (§7, REQUEST_NOT_FOUND). */
  get(requestId: string): Conversation {
    const found = isRequestId(requestId) ? this.#all.get(requestId) : undefined;
    if (found === undefined) throw new ServiceError("REQUEST_NOT_FOUND", "No request has this request_id.");
    return found;
  }

  /** Makes one move of §3 and says whether it was permitted; the journal has it before anybody can see it. */
  async move(conversation: Conversation, trigger: Trigger, ending: Ending = {}): Promise<boolean> {
    const { request_id } = conversation;
    for (let busy = this.#moving.get(request_id); busy; busy = this.#moving.get(request_id)) {
      await busy.catch(() => {});
    }
    const status = nextStatus(conversation.status, trigger);
    if (status === undefined) return false;
    const moving = this.#to(status, conversation, ending).finally(() => this.#moving.delete(request_id));
    this.#moving.set(request_id, moving);
    await moving;
    return true;
  }

  async #to(status: KnownStatus, conversation: Conversation, ending: Ending): Promise<void> {
    if (isFinal(status)) {
      const { request_id } = conversation;
      await this.journal.append({ kind: "ended", request_id, status, ...ending });
      delete conversation.job;
    }
    Object.assign(conversation, ending, { status });
  }
}

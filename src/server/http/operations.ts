import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../clock.js";
import { isFinal } from "../../protocol/conversation.js";
import type { Data } from "../../protocol/data.js";
import type { Conversations } from "../conversations/conversations.js";
import type { Journal } from "../conversations/journal.js";
import type { RateLimiter } from "../conversations/rate-limiter.js";
import type { Scheduler } from "../conversations/scheduler.js";
import { timestamp } from "../conversations/timestamp.js";
import { readCreateBody } from "./create-request.js";
import { readBody } from "./request-body.js";
import type { Key } from "./request-checks.js";
import { ServiceError } from "./service-error.js";

/** What the operations of §4 work on. */
export interface Parts {
  key: Key;
  clock: Clock;
  conversations: Conversations;
  journal: Journal;
  scheduler: Scheduler;
  rateLimiter: RateLimiter;
}

/** One operation: the answer's `data`, or a ServiceError. */
export type Handler = (parts: Parts, request: IncomingMessage, requestId: string) => Promise<Data>;

/** §4.1 */
export const create: Handler = async (parts, request) => {
  const body = await readCreateBody(await readBody(request));
  const key = parts.key.name;
  const at = parts.rateLimiter.take("create", key);
  const created_at = timestamp(at);
  const job = { request_id: randomUUID(), ...body };
  try {
    const conversation = await parts.conversations.create(job, created_at, { key, at });
    parts.scheduler.add(conversation);
  } catch (error) {
    parts.rateLimiter.release("create", key, at);
    throw error;
  }
  return { request_id: job.request_id, status: "PENDING", created_at };
};

/** §4.2 */
export const stop: Handler = async (parts, request, requestId) => {
  await readBody(request);
  const key = parts.key.name;
  const at = parts.rateLimiter.take("stop", key);
  await parts.journal.append({ kind: "counted", operation: "stop", key, at });
  const conversation = parts.conversations.get(requestId);
  if (!(await parts.conversations.move(conversation, "stop"))) {
    const state = conversation.status;
    if (!isFinal(state)) throw new Error(`stop is not permitted from ${state}`);
    throw new ServiceError(`CONVERSATION_ALREADY_${state}`, `The conversation is already ${state}.`);
  }
  parts.scheduler.abort(requestId);
  return {
    request_id: requestId,
    status: conversation.status,
    message: "The conversation was stopped. No result is kept.",
  };
};

/** §4.3; its fields beyond `status` are not shown there. */
export const status: Handler = async (parts, _, requestId) => {
  const { request_id, status, created_at } = parts.conversations.get(requestId);
  return { request_id, status, created_at };
};

/** §4.4; nothing but its purpose is shown there. */
export const output: Handler = async (parts, _, requestId) => {
  const { request_id, status, output, completed_at, reason } = parts.conversations.get(requestId);
  if (!isFinal(status)) {
    throw new ServiceError("CONVERSATION_NOT_COMPLETED", `The conversation is still ${status}.`);
  }
  if (status !== "COMPLETED") {
    const why = reason === undefined ? "" : `: ${reason}`;
    throw new ServiceError("OUTPUT_NOT_AVAILABLE", `There is no output, the conversation is ${status}${why}`);
  }
  return { request_id, status, output, completed_at };
};

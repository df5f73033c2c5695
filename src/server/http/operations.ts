import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { JsonText, memberText, parseExact } from "../../json/exact-json.js";
import { type Data, isFinal } from "../../protocol/conversation.js";
import type { HourlyLimit } from "../../protocol/limits.js";
import type {
  Caller,
  Conversation,
  ConversationStore,
  RateLimited,
  RemoteRequest,
} from "../conversations/conversation-store.js";
import { readCreateBody, type SchemaChecks } from "./create-request.js";
import { checkIsAnswerable } from "./request-checks.js";
import { HttpError, tooManyRequests } from "./responses.js";

/** What an operation of §4 is asked, and by whom. */
export interface Call {
  store: ConversationStore;
  schemas: SchemaChecks;
  caller: Caller;
  request: IncomingMessage;
  /** The whole body of a POST, which is read from the beginning on. */
  body: Promise<Buffer>;
  /** Of the path; empty for create. */
  requestId: string;
}

/** One operation: resolves with the answer's `data`, rejects with a HttpError. */
export type Handler = (call: Call) => Promise<Data>;

/** §4.1 */
export const create: Handler = async ({ store, schemas, caller, request, body }) => {
  const job = { request_id: randomUUID(), ...readCreateBody(await body) };
  if (job.output_schema !== undefined) await schemas.check(caller.keyId, job.output_schema, request);
  const waitMs = await store.remote.busyMs("conversation");
  checkIsAnswerable(request);
  if (waitMs > 0)
    throw tooManyRequests("The service behind this one refuses every request just now.", waitMs);
  const created = await store.create(caller, job);
  if (created.kind === "rate-limited") throw rateLimitError("create", caller, created);
  return { request_id: job.request_id, status: "PENDING", created_at: timestamp(created.createdAt) };
};

/** §4.2 */
export const stop: Handler = async ({ store, caller, request, body, requestId }) => {
  await body;
  checkIsAnswerable(request);
  const result = await store.stop(caller, requestId);
  switch (result.kind) {
    case "rate-limited":
      throw rateLimitError("stop", caller, result);
    case "not-found":
      throw notFoundError();
    case "already-ended": {
      const { status } = result;
      if (!isFinal(status)) throw new Error(`stop is not permitted from ${status}`);
      throw new HttpError(`CONVERSATION_ALREADY_${status}`, `The conversation is already ${status}.`);
    }
    case "stopped":
      return {
        request_id: requestId,
        status: "STOPPED",
        message: `The conversation was stopped. No result is kept.${goesOn(result.remote)}`,
      };
  }
};

/** What is to be said of a request at another service whose conversation was stopped. */
export function goesOn(remote: RemoteRequest | undefined): string {
  if (remote === undefined || remote.canStop) return "";
  return ` At ${remote.provider} it goes on and is paid for: there is no way to stop it there.`;
}

/** §4.3; its fields beyond `status` are not shown there. */
export const status: Handler = async ({ store, caller, requestId }) => {
  const conversation = await store.get(caller, requestId);
  if (conversation === undefined) throw notFoundError();
  const { status, createdAt, progress } = conversation;
  const shown = status === "PROCESSING" && progress !== undefined && { progress: new JsonText(progress) };
  return { request_id: requestId, status, created_at: timestamp(createdAt), ...shown };
};

/** §4.4; nothing but its purpose is shown there. */
export const output: Handler = async ({ store, caller, requestId }) => {
  const found = await store.output(caller, requestId);
  if (found === undefined) throw notFoundError();
  const { status, endedAt, reason }: Conversation = found.conversation;
  if (!isFinal(status)) {
    throw new HttpError("CONVERSATION_NOT_COMPLETED", `The conversation is still ${status}.`);
  }
  if (found.output === undefined) {
    throw new HttpError("OUTPUT_NOT_AVAILABLE", reason ?? `The conversation is ${status} and has no output.`);
  }
  const completed_at = endedAt === undefined ? undefined : timestamp(endedAt);
  const data = parseExact(found.data ?? "{}") as Data;
  const more = Object.fromEntries(Object.keys(data).map((name) => [name, memberText(data, name)]));
  return { ...more, request_id: requestId, status, output: new JsonText(found.output), completed_at };
};

/** §2: ISO 8601 with a UTC offset and fractional seconds, of an epoch time in ms. */
function timestamp(at: number): string {
  return new Date(at).toISOString().replace("Z", "+00:00");
}

/** §7, REQUEST_NOT_FOUND. */
function notFoundError(): HttpError {
  return new HttpError("REQUEST_NOT_FOUND", "No request has this request_id.");
}

function rateLimitError(operation: keyof HourlyLimit, { limits }: Caller, limited: RateLimited): HttpError {
  const message = `The limit of ${limits[operation]} ${operation} requests per hour is exceeded.`;
  return tooManyRequests(message, limited.retryAfterMs);
}

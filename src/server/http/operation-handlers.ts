import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.js";
import { findMemberText, JsonText, parseExact } from "../../core/json/exact-json.js";
import { type Data, isFinal } from "../../core/protocol/conversation.js";
import type { HourlyLimit } from "../../core/protocol/rate-limits.js";
import { formatDollars } from "../../core/text/describe-progress.js";
import { formatExactDuration, formatIsoDate } from "../../core/text/time-format.js";
import type {
  Caller,
  Conversation,
  ConversationStore,
  RateLimited,
  RemoteRequest,
} from "../conversations/conversation-store.js";
import { parseCreateBody, type SchemaChecks } from "./create-request.js";
import { checkIsAnswerable } from "./request-checks.js";
import { createTooManyRequests, HttpError } from "./responses.js";

/** The request of an operation of §4, with the key that sent it. */
export interface Call {
  store: ConversationStore;
  schemas: SchemaChecks;
  clock: Pick<Clock, "now">;
  caller: Caller;
  request: IncomingMessage;
  /** Resolves with the whole body of a POST. Reading starts before the handler is called. */
  body: Promise<Buffer>;
  /** The id in the path; empty for a create call. */
  requestId: string;
}

/** Carries out one operation. Resolves with the answer's `data`; rejects with a HttpError. */
export type Handler = (call: Call) => Promise<Data>;

/** Creates a conversation (§4.1). */
export const create: Handler = async ({ store, schemas, clock, caller, request, body }) => {
  const job = { request_id: randomUUID(), ...parseCreateBody(await body) };
  if (job.output_schema !== undefined) await schemas.check(caller.keyId, job.output_schema, request);
  const refused = await store.remote.findRefusal(caller.keyId);
  checkIsAnswerable(request);
  if (refused) throw createTooManyRequests(refused.reason, refused.retryAfterMs);
  const created = await store.create(caller, job);
  if (created.kind === "rate-limited") throw createRateLimitError("create", caller, created, clock);
  if (created.kind === "not-measured")
    throw new HttpError(
      "BUDGET_NOT_MEASURED",
      "This key has a budget of dollars, and the service that does the research does not say what a conversation costs. Nothing was created.",
    );
  return { request_id: job.request_id, status: "PENDING", created_at: formatTimestamp(created.createdAt) };
};

/** Stops a conversation (§4.2). */
export const stop: Handler = async ({ store, clock, caller, request, body, requestId }) => {
  await body;
  checkIsAnswerable(request);
  const result = await store.stop(caller, requestId);
  switch (result.kind) {
    case "rate-limited":
      throw createRateLimitError("stop", caller, result, clock);
    case "not-found":
      throw createNotFoundError();
    case "already-ended": {
      const { status } = result;
      if (!isFinal(status)) throw new Error(`stop is not permitted from ${status}`);
      throw new HttpError(`CONVERSATION_ALREADY_${status}`, `The conversation is already ${status}.`);
    }
    case "stopped":
      return {
        request_id: requestId,
        status: "STOPPED",
        message: `The conversation was stopped. No result is kept.${describeUpstreamFate(result.remote)}`,
      };
  }
};

/** Describes for the client what happens to the upstream request of a stopped conversation; empty if the request is stopped, too. */
export function describeUpstreamFate(remote: RemoteRequest | undefined): string {
  if (remote === undefined) return "";
  const { provider, canStop, remoteId } = remote;
  const paid = ` At ${provider} it goes on and is paid for: there is no way to stop it there.`;
  if (remoteId !== undefined) return canStop ? "" : paid;
  const unknown = ` It is not known whether it exists at ${provider}: its create had no answer yet.`;
  return unknown + (canStop ? " If its id comes, it is stopped there." : paid);
}

/** Returns the status of a conversation (§4.3). The interface defines no field except `status`. */
export const answerStatus: Handler = async ({ store, caller, requestId }) => {
  const conversation = await store.get(caller, requestId);
  if (conversation === undefined) throw createNotFoundError();
  const { status, createdAt, progress } = conversation;
  const shown = !isFinal(status) && progress !== undefined && { progress: new JsonText(progress) };
  return { request_id: requestId, status, created_at: formatTimestamp(createdAt), ...shown };
};

/** Returns the output of a conversation (§4.4). The interface defines the purpose of this operation, but not its fields. */
export const answerOutput: Handler = async ({ store, caller, requestId }) => {
  const answer = await store.output(caller, requestId);
  if (answer === undefined) throw createNotFoundError();
  const { status, endedAt, reason }: Conversation = answer.conversation;
  if (!isFinal(status)) {
    throw new HttpError("CONVERSATION_NOT_COMPLETED", `The conversation is still ${status}.`);
  }
  if (answer.output === undefined) {
    throw new HttpError("OUTPUT_NOT_AVAILABLE", reason ?? `The conversation is ${status} and has no output.`);
  }
  const completed_at = endedAt === undefined ? undefined : formatTimestamp(endedAt);
  const data = parseExact(answer.data ?? "{}") as Data;
  const more = Object.fromEntries(Object.keys(data).map((name) => [name, findMemberText(data, name)]));
  return { ...more, request_id: requestId, status, output: new JsonText(answer.output), completed_at };
};

/** Formats epoch ms as §2 requires: ISO 8601 with a UTC offset and fractional seconds. */
function formatTimestamp(at: number): string {
  return `${new Date(at).toISOString().slice(0, -1)}+00:00`;
}

/** Creates the error REQUEST_NOT_FOUND of §7. */
function createNotFoundError(): HttpError {
  return new HttpError("REQUEST_NOT_FOUND", "No request has this request_id.");
}

function createRateLimitError(
  operation: keyof HourlyLimit,
  { limits }: Caller,
  { over, retryAfterMs }: RateLimited,
  clock: Call["clock"],
): HttpError {
  const message = over
    ? describeBudget(over, clock.now() + retryAfterMs)
    : `The limit of ${limits[operation]} ${operation} requests per hour is exceeded.`;
  const error = createTooManyRequests(message, retryAfterMs);
  return Object.assign(error, { isHourUsedUp: true, ...(over && { reason: "budget" }) });
}

/** Describes which budget of the key is used up, and until when. `end`: epoch ms. */
function describeBudget(over: NonNullable<RateLimited["over"]>, end: number): string {
  const until = formatIsoDate(end).replace(/\.\d+/, "");
  const span = formatExactDuration(over.ms);
  if (over.what === "budget")
    return `The budget of this key is ${over.most} creates in ${span}; it is used up until ${until}.`;
  const budget = `The budget of this key is ${formatDollars(over.most)} in ${span}`;
  const spent = `${formatDollars(over.spent)} were spent`;
  if (over.price === undefined)
    return `${budget}: ${spent}. Until a cost is known, one conversation runs and few wait. Try again at ${until}.`;
  return `${budget}: ${spent} and ${formatDollars(over.reserved)} are reserved for unfinished conversations. Try again at ${until}.`;
}

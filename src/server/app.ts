import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { Hono } from "hono/tiny";
import type { Clock } from "../clock.js";
import { isFinal } from "../protocol/conversation.js";
import { CREATE } from "../protocol/endpoints.js";
import type { Data } from "../protocol/envelope.js";
import { readBody, refuseLargeBody } from "./body.js";
import type { Conversations } from "./conversations.js";
import { checkContentType, checkHost, checkKey, checkOrigin, fingerprint } from "./guard.js";
import type { Journal } from "./journal.js";
import type { Queue } from "./queue.js";
import type { Quota } from "./quota.js";
import { ANSWER_HEADERS, failureBody, Refusal, successBody } from "./refusals.js";
import { timestamp } from "./timestamp.js";
import { readCreateBody } from "./validation.js";

export interface AppParts {
  apiKey: string;
  allowHosts: ReadonlySet<string>;
  clock: Clock;
  conversations: Conversations;
  journal: Journal;
  queue: Queue;
  quota: Quota;
  log: (line: string) => void;
}

type Env = { Bindings: HttpBindings };
type Handler = (request: IncomingMessage, requestId: string) => Promise<Data>;

/** The operations of §4 over HTTP. Every answer, of whatever status, is an envelope (§2). */
export function createApp(parts: AppParts): Hono<Env> {
  const app = new Hono<Env>();
  const { allowHosts, apiKey } = parts;

  app.use(async (c, next) => {
    checkHost(c.env.incoming, allowHosts);
    checkOrigin(c.env.incoming);
    refuseLargeBody(c.env.incoming);
    await next();
  });

  const route = (method: "GET" | "POST", path: string, handler: Handler) => {
    app.on(method, path, async (c) => {
      const request = c.env.incoming;
      checkKey(request, apiKey);
      if (method === "POST") checkContentType(request);
      const data = await handler(request, c.req.param("request_id") ?? "");
      return c.body(successBody(data), 200, ANSWER_HEADERS);
    });
    app.all(path, (c) => {
      const allow = method === "GET" ? "GET, HEAD" : method;
      throw new Refusal("METHOD_NOT_ALLOWED", `${c.req.method} is not a method of this path.`, {
        Allow: allow,
      });
    });
  };

  route("POST", CREATE.path, (request) => create(parts, request));
  route("POST", "/api/v1/conversation/:request_id/stop", (request, id) => stop(parts, request, id));
  route("GET", "/api/v1/conversation/:request_id/status", (_, id) => status(parts, id));
  route("GET", "/api/v1/conversation/:request_id/output", (_, id) => output(parts, id));

  app.notFound(() => {
    throw new Refusal("NOT_FOUND", "There is nothing at this path.");
  });
  app.onError((error, c) => refuse(c, error, parts.log));
  return app;
}

/** §4.1 */
async function create(parts: AppParts, request: IncomingMessage): Promise<Data> {
  const body = await readCreateBody(await readBody(request));
  const key = fingerprint(parts.apiKey);
  const at = parts.quota.take("create", key);
  const job = { request_id: randomUUID(), ...body };
  try {
    const conversation = await parts.conversations.create(job, timestamp(at), { key, at });
    parts.queue.add(conversation);
  } catch (error) {
    parts.quota.release("create", key, at);
    throw error;
  }
  return { request_id: job.request_id, status: "PENDING", created_at: timestamp(at) };
}

/** §4.2 */
async function stop(parts: AppParts, request: IncomingMessage, requestId: string): Promise<Data> {
  await readBody(request);
  const key = fingerprint(parts.apiKey);
  const at = parts.quota.take("stop", key);
  await parts.journal.append({ kind: "counted", operation: "stop", key, at });
  const conversation = parts.conversations.get(requestId);
  if (!(await parts.conversations.move(conversation, "stop"))) {
    const state = conversation.status;
    if (!isFinal(state)) throw new Error(`stop is not permitted from ${state}`);
    throw new Refusal(`CONVERSATION_ALREADY_${state}`, `The conversation is already ${state}.`);
  }
  parts.queue.abort(requestId);
  return {
    request_id: requestId,
    status: conversation.status,
    message: "The conversation was stopped. No result is kept.",
  };
}

/** §4.3; its fields beyond `status` are not shown there. */
async function status(parts: AppParts, requestId: string): Promise<Data> {
  const { request_id, status, created_at } = parts.conversations.get(requestId);
  return { request_id, status, created_at };
}

/** §4.4; nothing but its purpose is shown there. */
async function output(parts: AppParts, requestId: string): Promise<Data> {
  const { request_id, status, output, completed_at, reason } = parts.conversations.get(requestId);
  if (!isFinal(status)) {
    throw new Refusal("CONVERSATION_NOT_COMPLETED", `The conversation is still ${status}.`);
  }
  if (status !== "COMPLETED") {
    const why = reason === undefined ? "" : `: ${reason}`;
    throw new Refusal("OUTPUT_NOT_AVAILABLE", `There is no output, the conversation is ${status}${why}`);
  }
  return { request_id, status, output, completed_at };
}

function refuse(c: Context<Env>, error: Error, log: (line: string) => void): Response {
  let refusal = error;
  if (!(refusal instanceof Refusal)) {
    log(`defect: ${error.stack ?? error.message}`);
    refusal = new Refusal("INTERNAL_ERROR", "The service met a defect of its own.");
  }
  return answerOf(refusal as Refusal);
}

/** A refusal as an answer. */
export function answerOf(refusal: Refusal): Response {
  return new Response(failureBody(refusal), {
    status: refusal.status,
    headers: { ...ANSWER_HEADERS, ...refusal.headers },
  });
}

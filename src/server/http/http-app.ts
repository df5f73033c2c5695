import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { HonoBase } from "hono/hono-base";
import { RegExpRouter } from "hono/router/reg-exp-router";
import type { Clock } from "../../core/clock.js";
import { CREATE, isRequestId, type Operation } from "../../core/protocol/conversation.js";
import { Semaphore } from "../../core/semaphore.js";
import {
  type ConversationStore,
  StoreError,
  StoreOutcomeUnknownError,
} from "../conversations/conversation-store.js";
import { type Exchange, type Observer, observeExchange } from "../monitoring/observe-exchange.js";
import { describeDefect, type Log, TroubleLog } from "../monitoring/operator-log.js";
import type { Ui } from "../ui/ui.js";
import type { Authenticate } from "./authentication.js";
import { CheckTimes, SchemaChecks } from "./create-request.js";
import { answerOutput, answerStatus, create, type Handler, stop } from "./operation-handlers.js";
import { answerMetrics, answerReady, isHostCheckSkipped, type Probes } from "./probes.js";
import {
  checkContentLength,
  checkContentType,
  checkHost,
  checkIsAnswerable,
  checkOrigin,
  readBody,
} from "./request-checks.js";
import {
  ANSWER_HEADERS,
  buildErrorResponse,
  buildSuccessResponse,
  HttpError,
  toHttpError,
} from "./responses.js";

export interface AppParts extends Probes {
  /** False for a worker, which does research and does not serve the operations of §4. */
  hasOperations: boolean;
  store: ConversationStore;
  observers: readonly Observer[];
  authenticate: Authenticate;
  clock: Clock;
  allowHosts: ReadonlySet<string>;
  /** Handles `/ui` and the paths below it; undefined for a service without the page. */
  ui?: Pick<Ui, "answer">;
  log: Log;
}

const NO_BODY = Promise.resolve(Buffer.alloc(0));

/** The size in bytes above which a body waits for its turn, because parsing takes several times as much memory. */
const SMALL_BODY = 65_536;
/** Maximum number of large bodies and of outputs in progress per key, so that one key does not delay the requests of others. */
const LARGE_AT_ONCE = 16;
const OUTPUTS_AT_ONCE = 8;
/** How long a body may keep its turn, in ms, because a client may send slowly. */
const TURN_MS = 5_000;

const NEVER = new AbortController().signal;

/** Answers one request; never rejects. */
export type App = (request: Request, bindings: HttpBindings) => Response | Promise<Response>;

/** The operations of §4.1 to §4.4 with their methods and paths. */
const OPERATIONS: readonly [Operation, "GET" | "POST", string, Handler][] = [
  ["create", "POST", CREATE.path, create],
  ["stop", "POST", "/api/v1/conversation/:request_id/stop", stop],
  ["status", "GET", "/api/v1/conversation/:request_id/status", answerStatus],
  ["output", "GET", "/api/v1/conversation/:request_id/output", answerOutput],
];

/** Creates the HTTP service of the operations of §4. Every answer, whatever its status, is an envelope (§2). */
export function createHttpApp(parts: AppParts): App {
  // This router suits all paths here; Hono's default adds a second router for other paths.
  const routes: Routes = new HonoBase({ router: new RegExpRouter() });
  const { allowHosts, authenticate, clock, log, observers, store } = parts;

  const schemas = new SchemaChecks(new CheckTimes(clock));
  const troubles = new TroubleLog(log, clock);
  const turns = new Map<string, { places: Semaphore; takers: number }>();
  /** Waits for the turn of a large body or an output. For a body, returns the function that ends the turn. */
  const turnOf = async (operation: Operation, { incoming, outgoing }: HttpBindings) => {
    const { headers } = incoming;
    const { "content-length": length = 0, "transfer-encoding": encoding, authorization: sender } = headers;
    const isLarge = encoding !== undefined || Number(length) > SMALL_BODY;
    const atOnce = operation === "output" ? OUTPUTS_AT_ONCE : isLarge ? LARGE_AT_ONCE : undefined;
    if (atOnce === undefined) return undefined;
    const name = `${atOnce} ${sender}`;
    const keyTurn = turns.get(name) ?? { places: new Semaphore(atOnce), takers: 0 };
    turns.set(name, keyTurn);
    keyTurn.takers += 1;
    const release = await keyTurn.places.acquire(NEVER);
    const endTurn = () => {
      release();
      keyTurn.takers -= 1;
      if (keyTurn.takers === 0) turns.delete(name);
    };
    if (operation === "output") {
      // A result stays in memory until its client has read it, and the event loop serves others between two results. An
      // answer that queues behind another one does not notice the end of its connection, but its request does.
      void Promise.race([finished(outgoing), finished(incoming)]).then(endTurn, endTurn);
      return undefined;
    }
    const turn = new AbortController();
    void clock.sleep(TURN_MS, turn.signal).then(endTurn, endTurn);
    return () => turn.abort();
  };
  for (const [operation, method, path, handler] of parts.hasOperations ? OPERATIONS : []) {
    routes.all(path, async (c) => {
      requireMethod(c.req.method, method);
      const { incoming: request, exchange } = c.env;
      const requestId = c.req.param("request_id") ?? "";
      Object.assign(exchange, { operation, ...(isRequestId(requestId) && { requestId }) });
      const carryOut = async () => {
        // Read the body while the key is looked up, so that a slow store does not make the body late.
        const body = method === "POST" ? readBody(request) : NO_BODY;
        body.catch(() => {});
        const { caller, keyName } = await authenticate(request);
        if (keyName !== undefined) exchange.keyName = keyName;
        if (method === "POST") checkContentType(request);
        const data = await handler({ store, schemas, clock, caller, request, body, requestId });
        exchange.requestId = String(data.request_id);
        troubles.noteRecovery(`${operation} requests`);
        return buildSuccessResponse(data);
      };
      const endTurn = await turnOf(operation, c.env);
      try {
        checkIsAnswerable(request);
        return await carryOut();
      } catch (error) {
        if (error instanceof HttpError) exchange.isHourUsedUp = error.isHourUsedUp;
        if (error instanceof StoreError) troubles.noteFailure(`${operation} requests`, error);
        throw error;
      } finally {
        endTurn?.();
      }
    });
  }
  const get = (path: string, answer: (request: IncomingMessage) => Promise<Response>) => {
    routes.all(path, (c) => {
      requireMethod(c.req.method, "GET");
      return answer(c.env.incoming);
    });
  };
  get("/openapi.json", async () => {
    const { default: description } = await import("../../../openapi.yaml");
    return new Response(JSON.stringify(description), { headers: ANSWER_HEADERS });
  });
  // Answers as long as the process is alive.
  get("/health", async () => buildSuccessResponse({}));
  get("/ready", () => answerReady(parts));
  const { ui, metrics: measured, metricsToken } = parts;
  if (measured && metricsToken !== undefined)
    get("/metrics", (request) => answerMetrics(measured, metricsToken, request));
  if (ui) for (const path of ["/ui", "/ui/*"]) get(path, ui.answer);

  routes.notFound(() => buildErrorResponse(new HttpError("NOT_FOUND", "There is nothing at this path.")));
  const respondWith = (error: unknown, { outgoing }: HttpBindings) => {
    // The store logs its own errors once, instead of for each request.
    if (!(error instanceof HttpError || error instanceof StoreError)) log(...describeDefect(error));
    if (!(error instanceof StoreOutcomeUnknownError)) return buildErrorResponse(toHttpError(error));
    // Drop the connection, because any answer would claim that the request was carried out or not.
    outgoing.socket?.destroy();
    return RESPONSE_ALREADY_SENT;
  };
  routes.onError((error, c) => respondWith(error, c.env));

  return (request, bindings) => {
    const { incoming, outgoing } = bindings;
    const exchange = observeExchange(observers, clock, incoming, outgoing as ServerResponse);
    try {
      if (!isHostCheckSkipped(incoming.url ?? "", parts)) checkHost(incoming, allowHosts);
      checkOrigin(incoming);
      checkContentLength(incoming);
      return routes.fetch(request, { incoming, outgoing, exchange });
    } catch (error) {
      return respondWith(error, bindings);
    }
  };
}

type Routes = HonoBase<{ Bindings: HttpBindings & { exchange: Partial<Exchange> } }>;

/**
 * Throws a HttpError (405) for another method. Hono routes all methods of a path to one handler, which is faster than a chain of
 * them, so the handler checks the method.
 */
function requireMethod(asked: string, method: "GET" | "POST"): void {
  if (asked === method || (asked === "HEAD" && method === "GET")) return;
  const headers = { Allow: method === "GET" ? "GET, HEAD" : method };
  throw new HttpError("METHOD_NOT_ALLOWED", `${asked} is not a method of this path.`, headers);
}

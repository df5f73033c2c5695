import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { HonoBase } from "hono/hono-base";
import { RegExpRouter } from "hono/router/reg-exp-router";
import type { Clock } from "../../clock.js";
import { isRequestId } from "../../protocol/conversation.js";
import { CREATE, type Operation } from "../../protocol/endpoints.js";
import {
  type ConversationStore,
  StoreOutcomeUnknownError,
  StoreUnavailableError,
} from "../conversations/conversation-store.js";
import type { ExchangeObservation } from "../monitoring/exchange.js";
import { defect, type Log, Troubles } from "../monitoring/log.js";
import type { Ui } from "../ui/ui.js";
import type { Authenticate } from "./authentication.js";
import { SchemaChecks } from "./create-request.js";
import { injectFault } from "./faults/fault-injection.js";
import type { FaultPlan } from "./faults/fault-plan.js";
import { create, type Handler, output, status, stop } from "./operations.js";
import { health, metrics, type Probes, ready, takesAnyHost } from "./probes.js";
import { checkContentLength, readBody } from "./request-body.js";
import { checkContentType, checkHost, checkOrigin } from "./request-checks.js";
import { ANSWER_HEADERS, errorResponse, successResponse } from "./responses.js";
import { ServiceError, serviceErrorOf } from "./service-error.js";

export interface AppParts extends Probes {
  /** False for a worker, which does research and answers no operation of §4. */
  hasOperations: boolean;
  store: ConversationStore;
  /** See `Researcher`. */
  busyMs: () => number;
  observation: ExchangeObservation;
  authenticate: Authenticate;
  clock: Clock;
  allowHosts: ReadonlySet<string>;
  faults: FaultPlan;
  /** The page of the service, for `/ui` and below; without it there is nothing. */
  ui?: Pick<Ui, "answer">;
  log: Log;
}

const NO_BODY = Promise.resolve(Buffer.alloc(0));

/** One request with its answer, which never rejects. */
export type App = (request: Request, bindings: HttpBindings) => Response | Promise<Response>;

/** §4.1 to §4.4 with what they leave open. */
const OPERATIONS: readonly [Operation, "GET" | "POST", string, Handler][] = [
  ["create", "POST", CREATE.path, create],
  ["stop", "POST", "/api/v1/conversation/:request_id/stop", stop],
  ["status", "GET", "/api/v1/conversation/:request_id/status", status],
  ["output", "GET", "/api/v1/conversation/:request_id/output", output],
];

/** The operations of §4 over HTTP. Every answer, of any status, is an envelope (§2). */
export function createApp(parts: AppParts): App {
  // The one router that all paths here fit; Hono by itself brings a second one for those that do not.
  const routes: Routes = new HonoBase({ router: new RegExpRouter() });
  const { allowHosts, authenticate, clock, faults, log, observation, store } = parts;

  const schemas = new SchemaChecks(clock);
  const troubles = new Troubles(log);
  for (const [operation, method, path, handler] of parts.hasOperations ? OPERATIONS : []) {
    routes.all(path, (c) => {
      checkMethod(c.req.method, method);
      const request = c.env.incoming;
      const requestId = c.req.param("request_id") ?? "";
      if (observation.isOn)
        observation.add(request, { operation, ...(isRequestId(requestId) && { requestId }) });
      const answer = async () => {
        try {
          return await carriedOut();
        } catch (error) {
          const { message, sqlstate } = error as StoreUnavailableError;
          if (isOfStore(error))
            troubles.failed(`${operation} requests`, message, sqlstate ? { sqlstate } : {});
          throw error;
        }
      };
      const carriedOut = async () => {
        // Read while the key is looked up: a store that takes long must not hold up a body until it is late.
        const body = method === "POST" ? readBody(request) : NO_BODY;
        body.catch(() => {});
        const { caller, keyName } = await authenticate(request);
        if (keyName !== undefined) observation.add(request, { keyName });
        if (method === "POST") checkContentType(request);
        const data = await handler({
          store,
          schemas,
          busyMs: parts.busyMs,
          caller,
          request,
          body,
          requestId,
        });
        if (observation.isOn) observation.add(request, { requestId: String(data.request_id) });
        troubles.over(`${operation} requests`);
        return successResponse(data);
      };
      const fault = faults.next(operation);
      return fault === undefined ? answer() : injectFault(fault, c.env, clock, answer);
    });
  }
  routes.all("/openapi.json", async (c) => {
    checkMethod(c.req.method, "GET");
    const { default: description } = await import("../../../openapi.yaml");
    return new Response(JSON.stringify(description), { headers: ANSWER_HEADERS });
  });
  const probes = { "/health": health, "/ready": ready, "/metrics": metrics };
  for (const [path, probe] of Object.entries(probes)) {
    routes.all(path, (c) => {
      checkMethod(c.req.method, "GET");
      return probe(parts, c.env.incoming);
    });
  }
  const { ui } = parts;
  for (const path of ui ? ["/ui", "/ui/*"] : []) {
    routes.all(path, (c) => {
      checkMethod(c.req.method, "GET");
      return ui?.answer(c.env.incoming) ?? c.notFound();
    });
  }

  routes.notFound(() => errorResponse(new ServiceError("NOT_FOUND", "There is nothing at this path.")));
  const respondWith = (error: unknown, { outgoing }: HttpBindings) => {
    if (!(error instanceof ServiceError || isOfStore(error))) log(...defect(error));
    if (!(error instanceof StoreOutcomeUnknownError)) return errorResponse(serviceErrorOf(error));
    // An answer would say that nothing was done, or that it was.
    outgoing.socket?.destroy();
    return RESPONSE_ALREADY_SENT;
  };
  routes.onError((error, c) => respondWith(error, c.env));

  return (request, bindings) => {
    const { incoming } = bindings;
    observation.begin(incoming, bindings.outgoing as ServerResponse);
    try {
      if (!takesAnyHost(incoming.url ?? "", parts)) checkHost(incoming, allowHosts);
      checkOrigin(incoming);
      checkContentLength(incoming);
      return routes.fetch(request, bindings);
    } catch (error) {
      return respondWith(error, bindings);
    }
  };
}

/** The store's own troubles are said once, not for each request. */
function isOfStore(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof StoreOutcomeUnknownError;
}

type Routes = HonoBase<{ Bindings: HttpBindings }>;

/** One handler for all methods of a path: Hono needs no chain of handlers then, which would take longer. */
function checkMethod(asked: string, method: "GET" | "POST"): void {
  if (asked === method || (asked === "HEAD" && method === "GET")) return;
  const headers = { Allow: method === "GET" ? "GET, HEAD" : method };
  throw new ServiceError("METHOD_NOT_ALLOWED", `${asked} is not a method of this path.`, headers);
}

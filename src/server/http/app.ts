import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { CREATE, type Operation } from "../../protocol/endpoints.js";
import { injectFault } from "./faults/fault-injection.js";
import type { FaultPlan } from "./faults/fault-plan.js";
import { create, type Handler, output, type Parts, status, stop } from "./operations.js";
import { checkContentLength } from "./request-body.js";
import { checkContentType, checkHost, checkKey, checkOrigin } from "./request-checks.js";
import { ANSWER_HEADERS, errorResponse, successBody } from "./responses.js";
import { ServiceError } from "./service-error.js";

export interface AppParts extends Parts {
  allowHosts: ReadonlySet<string>;
  faults: FaultPlan;
  log: (line: string) => void;
}

/** One request with its answer, which never rejects. */
export type App = (request: Request, bindings: HttpBindings) => Response | Promise<Response>;

/** §4.1 to §4.4 with what they leave open. */
const OPERATIONS: readonly [Operation, "GET" | "POST", string, Handler][] = [
  ["create", "POST", CREATE.path, create],
  ["stop", "POST", "/api/v1/conversation/:request_id/stop", stop],
  ["status", "GET", "/api/v1/conversation/:request_id/status", status],
  ["output", "GET", "/api/v1/conversation/:request_id/output", output],
];

/** The operations of §4 over HTTP. Every answer, of whatever status, is an envelope (§2). */
export function createApp(parts: AppParts): App {
  const routes: Routes = new Hono();
  const { allowHosts, clock, faults, key, log } = parts;

  for (const [operation, method, path, handler] of OPERATIONS) {
    routes.all(path, (c) => {
      checkMethod(c.req.method, method);
      const request = c.env.incoming;
      const answer = async () => {
        checkKey(request, key);
        if (method === "POST") checkContentType(request);
        return answered(successBody(await handler(parts, request, c.req.param("request_id") ?? "")));
      };
      const fault = faults.next(operation);
      return fault === undefined ? answer() : injectFault(fault, c.env, clock, answer);
    });
  }
  routes.all("/openapi.json", async (c) => {
    checkMethod(c.req.method, "GET");
    const { default: description } = await import("../../../openapi.yaml");
    return answered(JSON.stringify(description));
  });

  routes.notFound(() => errorResponse(new ServiceError("NOT_FOUND", "There is nothing at this path.")));
  const respondWith = (error: unknown) => {
    if (error instanceof ServiceError) return errorResponse(error);
    log(`defect: ${error instanceof Error ? error.stack : error}`);
    return errorResponse(new ServiceError("INTERNAL_ERROR", "The service met a defect of its own."));
  };
  routes.onError(respondWith);

  return (request, bindings) => {
    try {
      checkHost(bindings.incoming, allowHosts);
      checkOrigin(bindings.incoming);
      checkContentLength(bindings.incoming);
      return routes.fetch(request, bindings);
    } catch (error) {
      return respondWith(error);
    }
  };
}

type Routes = Hono<{ Bindings: HttpBindings }>;

function answered(body: string): Response {
  return new Response(body, { headers: ANSWER_HEADERS });
}

/** One handler for all methods of a path: Hono needs no chain of handlers then, which would take longer. */
function checkMethod(asked: string, method: "GET" | "POST"): void {
  if (asked === method || (asked === "HEAD" && method === "GET")) return;
  const headers = { Allow: method === "GET" ? "GET, HEAD" : method };
  throw new ServiceError("METHOD_NOT_ALLOWED", `${asked} is not a method of this path.`, headers);
}

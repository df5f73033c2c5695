import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { CREATE, type Operation } from "../protocol/endpoints.js";
import { refuseLargeBody } from "./body.js";
import type { FaultPlan } from "./fault-plan.js";
import { checkContentType, checkHost, checkKey, checkOrigin } from "./guard.js";
import { misbehave } from "./misbehave.js";
import { create, type Handler, output, type Parts, status, stop } from "./operations.js";
import { ANSWER_HEADERS, answerOf, Refusal, successBody } from "./refusals.js";

export interface AppParts extends Parts {
  allowHosts: ReadonlySet<string>;
  faults: FaultPlan;
  log: (line: string) => void;
}

export type App = Hono<{ Bindings: HttpBindings }>;

/** §4.1 to §4.4 with what they leave open. */
const OPERATIONS: readonly [Operation, "GET" | "POST", string, Handler][] = [
  ["create", "POST", CREATE.path, create],
  ["stop", "POST", "/api/v1/conversation/:request_id/stop", stop],
  ["status", "GET", "/api/v1/conversation/:request_id/status", status],
  ["output", "GET", "/api/v1/conversation/:request_id/output", output],
];

/** The operations of §4 over HTTP. Every answer, of whatever status, is an envelope (§2). */
export function createApp(parts: AppParts): App {
  const app: App = new Hono();
  const { allowHosts, apiKey, clock, faults, log } = parts;

  app.use(async (c, next) => {
    checkHost(c.env.incoming, allowHosts);
    checkOrigin(c.env.incoming);
    refuseLargeBody(c.env.incoming);
    await next();
  });
  for (const [operation, method, path, handler] of OPERATIONS) {
    app.on(method, path, async (c) => {
      const request = c.env.incoming;
      const answer = async () => {
        checkKey(request, apiKey);
        if (method === "POST") checkContentType(request);
        const data = await handler(parts, request, c.req.param("request_id") ?? "");
        return c.body(successBody(data), 200, ANSWER_HEADERS);
      };
      const fault = faults.next(operation);
      return fault === undefined ? answer() : misbehave(fault, c.env, clock, answer);
    });
    refuseOtherMethods(app, path, method);
  }
  app.get("/openapi.json", async (c) => {
    const { default: description } = await import("../../openapi.yaml");
    return c.body(JSON.stringify(description), 200, ANSWER_HEADERS);
  });
  refuseOtherMethods(app, "/openapi.json", "GET");

  app.notFound(() => answerOf(new Refusal("NOT_FOUND", "There is nothing at this path.")));
  app.onError((error) => {
    if (error instanceof Refusal) return answerOf(error);
    log(`defect: ${error.stack ?? error.message}`);
    return answerOf(new Refusal("INTERNAL_ERROR", "The service met a defect of its own."));
  });
  return app;
}

function refuseOtherMethods(app: App, path: string, method: "GET" | "POST"): void {
  const headers = { Allow: method === "GET" ? "GET, HEAD" : method };
  app.all(path, (c) => {
    throw new Refusal("METHOD_NOT_ALLOWED", `${c.req.method} is not a method of this path.`, headers);
  });
}

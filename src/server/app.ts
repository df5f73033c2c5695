import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono/tiny";
import { CREATE } from "../protocol/endpoints.js";
import { refuseLargeBody } from "./body.js";
import { checkContentType, checkHost, checkKey, checkOrigin } from "./guard.js";
import { create, type Handler, output, type Parts, status, stop } from "./operations.js";
import { ANSWER_HEADERS, answerOf, Refusal, successBody } from "./refusals.js";

export interface AppParts extends Parts {
  allowHosts: ReadonlySet<string>;
  log: (line: string) => void;
}

type Env = { Bindings: HttpBindings };
export type App = Hono<Env>;

/** The operations of §4 over HTTP. Every answer, of whatever status, is an envelope (§2). */
export function createApp(parts: AppParts): App {
  const app: App = new Hono();
  const { allowHosts, apiKey, log } = parts;

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
      const data = await handler(parts, request, c.req.param("request_id") ?? "");
      return c.body(successBody(data), 200, ANSWER_HEADERS);
    });
    app.all(path, (c) => {
      const allow = method === "GET" ? "GET, HEAD" : method;
      throw new Refusal("METHOD_NOT_ALLOWED", `${c.req.method} is not a method of this path.`, {
        Allow: allow,
      });
    });
  };
  route("POST", CREATE.path, create);
  route("POST", "/api/v1/conversation/:request_id/stop", stop);
  route("GET", "/api/v1/conversation/:request_id/status", status);
  route("GET", "/api/v1/conversation/:request_id/output", output);

  app.notFound(() => answerOf(new Refusal("NOT_FOUND", "There is nothing at this path.")));
  app.onError((error) => {
    if (error instanceof Refusal) return answerOf(error);
    log(`defect: ${error.stack ?? error.message}`);
    return answerOf(new Refusal("INTERNAL_ERROR", "The service met a defect of its own."));
  });
  return app;
}

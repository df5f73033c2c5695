/**
 * The parts of undici that we use, from modules that undici does not export. Its public entry also loads fetch, WebSocket
 * and a cache, with which `status` takes half as long again. Only this file may import these modules. After an upgrade,
 * `test/core/http/undici.test.ts` names a module that is missing.
 */
import type { Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import symbols from "undici/lib/core/symbols.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";

export { Agent, buildConnector, Client, Pool, symbols };

/** Loads methods that the public entry would add to dispatchers. Call them with a dispatcher as `this`. */
export async function loadDispatcherMethods(): Promise<Pick<Dispatcher, "connect" | "request">> {
  const [connect, request] = await Promise.all([
    import("undici/lib/api/api-connect.js"),
    import("undici/lib/api/api-request.js"),
  ]);
  return { connect: connect.default, request: request.default };
}

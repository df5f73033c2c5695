/**
 * The parts of undici that we use, from modules that it does not export: its public entry also loads fetch, WebSocket and
 * a cache, which makes `status` take half as long again. No other file imports these modules, and
 * `test/core/http/undici.test.ts` names a module that is missing after an upgrade.
 */
import type { Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import symbols from "undici/lib/core/symbols.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";

export { Agent, buildConnector, Client, Pool, symbols };

/** Loads methods that only the public entry adds to dispatchers. Call them with a dispatcher as `this`. */
export async function loadApiParts(): Promise<Pick<Dispatcher, "connect" | "request">> {
  const [connect, request] = await Promise.all([
    import("undici/lib/api/api-connect.js"),
    import("undici/lib/api/api-request.js"),
  ]);
  return { connect: connect.default, request: request.default };
}

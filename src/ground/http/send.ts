import type { Dispatcher } from "undici";
import { untilAborted } from "../clock.js";
import type { Connections } from "./connections.js";
import type { WireRequest } from "./exchange.js";
import { apiParts } from "./undici.js";

/**
 * Sends a request and resolves with its answer, the body as it comes: it has to be read or destroyed. Follows no
 * redirect, repeats nothing and has no time limit of its own. An abort closes the socket; the promise rejects with
 * `signal.reason` then.
 */
export async function sendVia(
  connections: Pick<Connections, "shared" | "route">,
  request: WireRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData<unknown>> {
  const { request: dispatch } = await apiParts();
  const dispatcher = await connections.shared();
  signal.throwIfAborted();
  const options = { ...connections.route(request), signal };
  const answer = await untilAborted(dispatch.call(dispatcher, options as Dispatcher.RequestOptions), signal);
  answer.body.on("error", () => {});
  return answer;
}

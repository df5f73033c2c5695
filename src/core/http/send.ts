import type { Dispatcher } from "undici";
import { untilAborted } from "../clock.js";
import type { Connections } from "./connections.js";
import type { WireRequest } from "./exchange.js";
import { apiParts } from "./undici.js";

/** Sends a request once; its body has to be read or destroyed. An abort closes the socket: `signal.reason`. */
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

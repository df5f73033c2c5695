import type { Dispatcher } from "undici";
import { waitUnlessAborted } from "../clock.js";
import type { Connections } from "./connections.js";
import type { WireRequest } from "./exchange.js";
import { loadApiParts } from "./undici.js";

/** Sends a request once. The caller must read or destroy the body. An abort closes the socket; the call rejects with `signal.reason`. */
export async function sendVia(
  connections: Pick<Connections, "getShared" | "routeRequest">,
  request: WireRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData<unknown>> {
  const { request: dispatch } = await loadApiParts();
  const dispatcher = await connections.getShared();
  signal.throwIfAborted();
  const options = { ...connections.routeRequest(request), signal };
  const answer = await waitUnlessAborted(
    dispatch.call(dispatcher, options as Dispatcher.RequestOptions),
    signal,
  );
  answer.body.on("error", () => {});
  return answer;
}

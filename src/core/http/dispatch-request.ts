import type { Dispatcher } from "undici";
import { waitUnlessAborted } from "../clock.js";
import type { Connections } from "./origin-connections.js";
import type { WireRequest } from "./send-request.js";
import { loadDispatcherMethods } from "./undici.js";

/** Sends a request once. The caller must read or destroy the body. An abort closes the socket; the call rejects with `signal.reason`. */
export async function dispatchRequest(
  connections: Pick<Connections, "getShared" | "routeRequest">,
  request: WireRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData<unknown>> {
  const { request: dispatch } = await loadDispatcherMethods();
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

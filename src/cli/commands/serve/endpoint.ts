import { connections } from "../../../client/http/connections/connections.js";
import { viaProxy } from "../../../client/http/forward-proxy.js";
import { proxyFor } from "../../../client/http/proxy-setting.js";
import { UsageError } from "../../../machine/errors.js";
import { waitForKey } from "../../../machine/key-file.js";
import { isKeyText } from "../../../protocol/key-pattern.js";
import type { EndpointConnections } from "../../../server/researchers/model/endpoint/endpoint.js";
import type { Context } from "../../context.js";

/** How long a connection to an endpoint may take, ms. */
const CONNECT_MS = 30_000;

/** Connections to what the service itself asks, through the proxy of the environment. */
export function connectionsTo(host: Context["host"], url: URL): EndpointConnections {
  const proxy = proxyFor(url, host.env);
  host.beforeRequests?.();
  return {
    ...connections(url, proxy, CONNECT_MS),
    route: (request) => ({ ...request, ...viaProxy(request, proxy), body: request.body }),
  };
}

/**
 * The key in the variable `name`, or in the file that `name`_FILE names; undefined if neither is set. No flag takes
 * one: a process list shows flags.
 */
export async function keyIn(
  { host: { env, clock }, signal }: Pick<Context, "host" | "signal">,
  name: string,
): Promise<string | undefined> {
  const file = env[`${name}_FILE`];
  const [key, from] = env[name]
    ? [env[name].trim(), name]
    : [file ? await waitForKey(file, clock, signal) : undefined, `${name}_FILE`];
  if (key !== undefined && !isKeyText(key))
    throw new UsageError(`invalid key in ${from}: it must be visible ASCII without spaces`);
  return key;
}

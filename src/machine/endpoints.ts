import type { Clock } from "../ground/clock.js";
import type { Environment } from "../ground/files/local-error.js";
import { parseBaseUrl, proxyFor } from "../ground/http/address.js";
import { Connections } from "../ground/http/connections.js";
import { isKeyText } from "../ground/secrets/key.js";
import type { Network } from "../reader/fetching/page-fetcher.js";
import { UsageError } from "./errors.js";
import { type Choices, insecureHttpIn, waitForKey } from "./settings.js";

/** What of this process is needed to reach an endpoint that is no research service: a model, a search engine, a page. */
export interface Surroundings {
  host: {
    env: Environment;
    clock: Clock;
    version: string;
    /** Called before the first request is sent. */
    beforeRequests?: (() => void) | undefined;
  };
  flags: Pick<Choices, "insecureHttp">;
  signal: AbortSignal;
}

/** How long a connection to an endpoint may take, ms. */
const CONNECT_MS = 30_000;

/** Connections to what the service itself asks, through the proxy of the environment. */
export function connectionsTo({ host }: Pick<Surroundings, "host">, url: URL): Connections {
  host.beforeRequests?.();
  return new Connections(url, proxyFor(url, host.env), CONNECT_MS);
}

/** The address of an endpoint, as a base URL is read. Throws BaseUrlError. */
export function endpointUrl(
  { flags, host }: Surroundings,
  text: string,
  what: { name: string; example: string },
): URL {
  return parseBaseUrl(text, insecureHttpIn(flags, host.env).value, what);
}

/** The network of this machine, as a reader of pages needs it; `accessTo` says which addresses it may reach. */
export async function networkOf({ host }: Surroundings, accessTo: Network["accessTo"]): Promise<Network> {
  const { resolverOf } = await import("../reader/fetching/resolver.js");
  return {
    resolve: resolverOf({ clock: host.clock }),
    accessTo,
    proxyFor: (target) => proxyFor(target, host.env),
  };
}

/**
 * The key in the variable `name`, or in the file that `name`_FILE names; undefined if neither is set. No flag takes
 * one: a process list shows flags.
 */
export async function keyIn(
  { host: { env, clock }, signal }: Pick<Surroundings, "host" | "signal">,
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

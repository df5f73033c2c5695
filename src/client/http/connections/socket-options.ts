import type { LookupFunction } from "node:net";
import { isLocalName } from "../address.js";

/** What the connections to one host are opened with, beside its address. */
export interface ConnectOptions {
  lookup?: LookupFunction;
}

/** `hostname` as `URL` gives it. */
export function connectOptions({ hostname }: Pick<URL, "hostname">): ConnectOptions {
  return isLocalName(hostname) ? { lookup: loopbackLookup } : {};
}

/**
 * Resolves a name to this machine without asking any resolver (RFC 6761 §6.3): a resolver that gives another address
 * for `x.localhost` would get the key over plain http.
 */
const loopbackLookup: LookupFunction = (_hostname, options, callback) => {
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  if (options.all) callback(null, addresses);
  else callback(null, "127.0.0.1", 4);
};

import type { LookupFunction, Socket } from "node:net";
import type { buildConnector } from "undici";
import { onAbort } from "../clock.js";
import { isLoopbackName, type ProxyAddress, ProxyRefusedError } from "./base-url-and-proxy.js";

/** Creates undici's connector for the host of `peer`. `timeout`: ms to connect. */
export async function createConnector(peer: URL, timeout: number): Promise<buildConnector.connector> {
  const { buildConnector } = await import("./undici.js");
  const { host, lookup } = buildConnectOptions(peer);
  const servername = process.getBuiltinModule("node:net").isIP(host) ? "" : host;
  const open = buildConnector({ timeout, ...(lookup && { lookup }) });
  // Without a name, undici takes it from the `Host` header, which names the service and not the proxy.
  return (options, callback) => open({ ...options, servername }, callback);
}

/** Creates undici's connector to `target` through a proxy. `signal` closes a tunnel, `timeout` (ms) limits each step. */
export async function createTunnelConnector(
  proxy: ProxyAddress,
  target: URL,
  timeout: number,
  signal: AbortSignal,
): Promise<buildConnector.connector> {
  const secure = await createConnector(target, timeout);
  const authority = `${target.hostname}:${target.port || 443}`;
  return (options, callback) => {
    openProxyTunnel(proxy, authority, timeout, signal).then(
      (httpSocket) => secure({ ...options, httpSocket }, callback),
      (error: Error) => callback(error, null),
    );
  };
}

/**
 * Opens a connection to `target` (`host:port`) through a proxy (RFC 9110 §9.3.6); an abort of `signal` closes it. Rejects with
 * ProxyRefusal, or with the system's error if the proxy cannot be reached. `timeout` (ms) limits the connection to the proxy,
 * and then its answer.
 */
export async function openProxyTunnel(
  { url, authorization }: ProxyAddress,
  target: string,
  timeout: number,
  signal: AbortSignal,
): Promise<Socket> {
  const { Client, loadDispatcherMethods } = await import("./undici.js");
  const client = new Client(url.origin, {
    connect: await createConnector(url, timeout),
    headersTimeout: timeout,
  });
  try {
    const { connect } = await loadDispatcherMethods();
    const headers = { host: target, ...(authorization && { "proxy-authorization": authorization }) };
    const answer = await connect.call(client, { origin: url.origin, path: target, headers, signal });
    // undici has removed its own listeners, and an error without a listener would end the process.
    const socket = (answer.socket as Socket).on("error", () => {});
    const release = onAbort(signal, () => socket.destroy());
    socket.once("close", release);
    if (answer.statusCode === 200) return socket;
    socket.destroy();
    throw new ProxyRefusedError(answer.statusCode);
  } finally {
    client.destroy().catch(() => {});
  }
}

/** Returns the host and port of a URL, and a `lookup` function if a resolver must not see the name. */
export function buildConnectOptions({ hostname, port, protocol }: URL): {
  host: string;
  port: number;
  lookup?: LookupFunction;
} {
  const host = hostname.replace(/^\[|\]$/g, "");
  const to = { host, port: Number(port || (protocol === "https:" ? 443 : 80)) };
  return isLoopbackName(host) ? { ...to, lookup: lookUpLoopbackName } : to;
}

/**
 * Looks up a local name (RFC 6761 §6.3) without a resolver, which might return another address for `x.localhost`; that address would
 * get the key over plain http.
 */
const lookUpLoopbackName: LookupFunction = (_hostname, options, callback) => {
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  if (options.all) callback(null, addresses);
  else callback(null, "127.0.0.1", 4);
};

import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { chooseProxy, ProxyRefusedError } from "../../../src/core/http/base-url-and-proxy.js";
import { buildConnectOptions, openProxyTunnel } from "../../../src/core/http/undici-connectors.js";
import * as does from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { proxy } from "../../support/proxy.js";
import { until } from "../../support/service.js";

test.each([
  ["https://a.example", "a.example", 443],
  ["http://a.example", "a.example", 80],
  ["http://a.example:8", "a.example", 8],
  ["https://[::1]:8", "::1", 8],
])("%s is at the host %s and the port %d", (url, host, port) => {
  expect(buildConnectOptions(new URL(url))).toEqual({ host, port });
});

test("a local name is looked up nowhere, whether one address is asked for or all", () => {
  const { lookup } = buildConnectOptions(new URL("http://a.localhost"));
  const answers: unknown[][] = [];
  for (const all of [true, false]) lookup?.("a.localhost", { all }, (...said) => answers.push(said));
  const [v4, v6] = [{ address: "127.0.0.1", family: 4 } as const, { address: "::1", family: 6 } as const];
  expect(answers).toEqual([
    [null, [v4, v6]],
    [null, v4.address, v4.family],
  ]);
});

describe("a tunnel", () => {
  async function tunnelThrough(options: Parameters<typeof proxy>[1], login = "") {
    const server = await faultServer(() => does.ok({ request_id: "id-1" }));
    const through = await proxy(server.port, options);
    const HTTPS_PROXY = through.url.replace("//", `//${login}`);
    const way = chooseProxy(new URL("https://a.example"), { HTTPS_PROXY });
    if (way === undefined) throw new Error("no proxy");
    const ended = new AbortController();
    return { through, ended, tunnel: openProxyTunnel(way, "a.example:443", 10_000, ended.signal) };
  }

  test("is a connection to the target, and ends with the signal", async () => {
    const { through, ended, tunnel } = await tunnelThrough({ login: "me:word" }, "me:word@");
    const socket = await tunnel;
    expect(through.requests.map(({ method, url }) => [method, url])).toEqual([["CONNECT", "a.example:443"]]);
    socket.write("GET / HTTP/1.1\r\nhost: a.example\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toContain("HTTP/1.1 ");
    ended.abort();
    await until(async () => (through.open() === 0 ? true : undefined));
  });

  test.each([
    [{ refusesConnect: true }, "the proxy refused the connection (HTTP 403)"],
    [{ login: "me:word" }, /login/i],
  ])("that the proxy refuses (%j) is an error that says so", async (options, message) => {
    const { through, tunnel } = await tunnelThrough(options);
    await expect(tunnel).rejects.toBeInstanceOf(ProxyRefusedError);
    await expect(tunnel).rejects.toThrow(message);
    await until(async () => (through.open() === 0 ? true : undefined));
  });
});

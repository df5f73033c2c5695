import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { createServer } from "node:tls";
import type { Dispatcher } from "undici";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { systemClock } from "../../../src/core/clock.js";
import { Connections } from "../../../src/core/http/origin-connections.js";
import { loadDispatcherMethods } from "../../../src/core/http/undici.js";
import * as does from "../../support/behaviours.js";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../support/certificate.js";
import { type FaultServer, faultServer } from "../../support/fault-server.js";
import { KEY } from "../../support/happy-service.js";
import { listen } from "../../support/listen.js";
import { proxy } from "../../support/proxy.js";
import { until } from "../../support/service.js";

const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(started.splice(0).map((thing) => thing.close()));
});

/** Tries come one right after the other. */
const NO_WAIT = { clock: { ...systemClock, sleep: async () => {} } };

const answers = () => does.ok({ request_id: "id-1", status: "PENDING" });

async function serving(script: () => does.Behaviour = answers): Promise<FaultServer> {
  const server = await faultServer(script);
  started.push(server);
  return server;
}

function clientOf(baseUrl: string, options: object = {}): ResearchClient {
  const client = new ResearchClient({ baseUrl, apiKey: KEY, ...options });
  started.push(client);
  return client;
}

/** Resolves when the server has no connection left: a peer sees the end a moment after it came about. */
const noneOpen = (server: FaultServer) =>
  until(async () => (server.openConnections === 0 ? true : undefined));

describe("the connection of a create is closed with it", () => {
  test("at a server that would keep it", async () => {
    const server = await serving();
    const client = clientOf(server.url);
    for (let i = 0; i < 5; i++) {
      await client.create({ prompt: "x" });
      await noneOpen(server);
    }
    expect(server.connections).toBe(5);
  });

  test("where no answer came", async () => {
    const server = await serving(does.hang);
    const client = clientOf(server.url, { requestTimeout: 1_000 });
    await expect(client.create({ prompt: "x" })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await noneOpen(server);
  });

  test("through a proxy", async () => {
    const server = await serving();
    const through = await proxy(server.port);
    const options = { insecureHttp: true, proxyEnvironment: { HTTP_PROXY: through.url } };
    const client = clientOf("http://research.example", options);
    await client.create({ prompt: "x" });
    await until(async () => (through.open() === 0 ? true : undefined));
    await client.status("id-1");
    expect(through.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });
});

test.each<[string, (socket: Socket) => unknown]>([
  ["ends", (socket) => socket.end()],
  ["resets", (socket) => socket.resetAndDestroy()],
])(
  "a peer that %s a connection once it is open got nothing, and the create goes over another one",
  async (_, close) => {
    let connections = 0;
    const got: Buffer[] = [];
    const server = createTcpServer((socket) => {
      connections += 1;
      if (connections === 1) return close(socket);
      return socket.on("data", (piece) => {
        got.push(piece);
        socket.write(does.answerBytes({ body: does.envelope({ request_id: "id-1", status: "PENDING" }) }));
      });
    });
    const client = clientOf(`http://127.0.0.1:${await listen(server)}`, NO_WAIT);
    expect(await client.create({ prompt: "x" })).toMatchObject({ request_id: "id-1" });
    expect([connections, String(Buffer.concat(got)).match(/POST/g)]).toEqual([2, ["POST"]]);
  },
);

describe("a connection for one use", () => {
  type Use = Parameters<Connections["useFresh"]>[0];
  const ask = async (dispatcher: Dispatcher, path = "/"): Promise<Dispatcher.ResponseData<unknown>> => {
    const { request } = await loadDispatcherMethods();
    return request.call(dispatcher, { origin: "http://x", path, method: "POST" });
  };
  const to = (url: string, proxyUrl?: string, timeout = 5_000) =>
    new Connections(
      new URL(url),
      proxyUrl === undefined ? undefined : { url: new URL(proxyUrl), authorization: undefined },
      timeout,
    );

  test.each([
    ["directly", false],
    ["through a proxy", true],
  ])("serves one use, %s: what comes after the end of its socket is not sent", async (_, isProxied) => {
    const server = await serving(() => does.answer({ length: "none" }));
    const twice: Use = async (dispatcher) => {
      await (await ask(dispatcher)).body.dump();
      await noneOpen(server);
      return ask(dispatcher);
    };
    // A proxy takes plain http as any server does.
    const connections = isProxied ? to("http://research.example", server.url) : to(server.url);
    await expect(connections.useFresh(twice)).rejects.toThrow("the connection has been used");
    expect([server.connections, server.requests.length]).toEqual([1, 1]);
  });

  test.each([
    ["nothing", () => "nothing"],
    ["a failure", () => expect.fail("enough")],
  ])("is closed after %s", async (_, end) => {
    const server = await serving();
    const use: Use = async () => {
      await until(async () => server.openConnections > 0 || undefined);
      end();
    };
    await to(server.url)
      .useFresh(use)
      .catch(() => {});
    await noneOpen(server);
  });

  test("ends when all connections are closed", async () => {
    const server = await serving(does.hang);
    const connections = to(server.url);
    void until(async () => server.requests.length > 0 || undefined).then(() => connections.close());
    await expect(connections.useFresh(ask)).rejects.toThrow();
    await noneOpen(server);
  });

  test.each([
    ["directly", false],
    ["through a tunnel", true],
  ])("and those that are shared, with TLS, %s", async (_, isProxied) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const server = createHttpsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (request, response) =>
      response.end(request.url),
    );
    const port = await listen(server);
    const through = await proxy(port);
    const connections = to(`https://127.0.0.1:${port}`, isProxied ? through.url : undefined);
    started.push(connections);
    const read: Use = async (dispatcher) => (await ask(dispatcher, "/x")).body.text();
    expect([await connections.useFresh(read), await read(await connections.getShared())]).toEqual([
      "/x",
      "/x",
    ]);
    expect(through.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
      isProxied ? Array(2).fill(`CONNECT 127.0.0.1:${port}`) : [],
    );
  });

  test.each<[string, string, (socket: Socket) => unknown, string]>([
    ["was closed at once", "http", (socket) => socket.end(), "was closed as soon as it was opened"],
    ["was reset at once", "http", (socket) => socket.resetAndDestroy(), "ECONNRESET"],
    ["never became safe", "https", () => {}, "was not open in time"],
  ])("says that it %s", async (_, scheme, accept, message) => {
    const port = await listen(createTcpServer((socket) => accept(socket.on("error", () => {}))));
    const connections = to(`${scheme}://127.0.0.1:${port}`, undefined, 300);
    await expect(connections.useFresh(ask)).rejects.toThrow(message);
  });

  test.each([
    ["localhost", "localhost"],
    ["127.0.0.1", false],
  ])("asks for the certificate of %s and for HTTP/1.1", async (host, servername) => {
    const asked: unknown[] = [];
    const server = createServer({
      ...{ cert: CERTIFICATE, key: CERTIFICATE_KEY },
      ALPNCallback: (hello) => {
        asked.push(hello);
        return "http/1.1";
      },
    });
    await expect(to(`https://${host}:${await listen(server)}`).useFresh(ask)).rejects.toThrow(
      "self-signed certificate",
    );
    expect(asked).toEqual([{ servername, protocols: ["http/1.1"] }]);
  });
});

test("a tunnel that is being opened ends with the client", async () => {
  const server = await faultServer(answers, { onConnection: () => "hang" });
  started.push(server);
  const through = await proxy(server.port);
  const options = { proxyEnvironment: { HTTPS_PROXY: through.url }, requestTimeout: 600_000 };
  const client = clientOf("https://research.example", options);
  const over = new AbortController();
  const asked = client.status("id-1", { signal: over.signal }).catch(() => {});
  await until(async () => (through.requests.length === 1 ? true : undefined));
  expect(through.requests[0]).toMatchObject({ method: "CONNECT", url: "research.example:443" });
  await client.close();
  await until(async () => (through.open() === 0 ? true : undefined));
  over.abort();
  await asked;
});

test("closing twice, and closing what was never opened, is no error", async () => {
  const client = clientOf("http://127.0.0.1:1");
  await client.close();
  await client.close();
});

test.each(["localhost", "research.localhost"])(
  "%s is this machine whatever a resolver says",
  async (name) => {
    const server = await serving();
    const client = clientOf(`http://${name}:${server.port}`);
    expect(await client.create({ prompt: "x" })).toMatchObject({ request_id: "id-1" });
    expect(await client.status("id-1")).toMatchObject({ status: "PENDING" });
    expect(server.requests.map(({ headers }) => headers.host)).toEqual(
      Array(2).fill(`${name}:${server.port}`),
    );
  },
);

test.each(["http", "https"])("a proxy with TLS is asked for its own certificate, for %s", async (scheme) => {
  const names: string[] = [];
  const SNICallback = (name: string, done: (error: Error) => void) => {
    names.push(name);
    done(new Error("no certificate"));
  };
  const server = createServer({ SNICallback });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const at = `https://proxy.localhost:${port}`;
  const proxyEnvironment = { HTTP_PROXY: at, HTTPS_PROXY: at };
  const client = clientOf(`${scheme}://research.example`, {
    insecureHttp: true,
    proxyEnvironment,
    ...NO_WAIT,
  });
  await expect(client.create({ prompt: "x" })).rejects.toMatchObject({ code: "UNREACHABLE" });
  await expect(client.status("id-1")).rejects.toMatchObject({ code: "UNREACHABLE" });
  server.close();
  expect(new Set(names)).toEqual(new Set(["proxy.localhost"]));
});

describe("as curl, the client reads an answer", () => {
  const body = does.envelope({ request_id: "id-1", status: "PENDING" });
  const whole = does.answerBytes({ body });
  const interim = (status: string, headers = "") => Buffer.from(`HTTP/1.1 ${status}\r\n${headers}\r\n`);

  test.each([
    ["after a 100 Continue that nobody asked for", [interim("100 Continue")]],
    ["after two of them", [interim("100 Continue"), interim("100 Continue")]],
    ["after a 100 Continue with headers", [interim("100 Continue", "x-a: b\r\n")]],
    ["after 103 Early Hints", [interim("103 Early Hints", "link: </a>\r\n")]],
  ])("%s", async (_what, before) => {
    const server = await serving(() => ({
      act: (socket) => void socket.write(Buffer.concat([...before, whole])),
    }));
    const client = clientOf(server.url);
    expect(await client.create({ prompt: "x" })).toMatchObject({ request_id: "id-1" });
    for (let i = 0; i < 2; i++) expect(await client.status("id-1")).toMatchObject({ status: "PENDING" });
  });

  test("with 200 kB of headers, and no answer with a million", async () => {
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "v".repeat(4_000)]));
    let count = 50;
    const server = await serving(() => does.answer({ body, headers: headers(count) }));
    const client = clientOf(server.url);
    expect(await client.create({ prompt: "x" })).toMatchObject({ request_id: "id-1" });
    expect(await client.status("id-1")).toMatchObject({ status: "PENDING" });
    count = 250;
    await expect(client.create({ prompt: "x" })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  test("no answer after an interim one is none at all", async () => {
    const server = await serving(() => ({ act: (socket) => void socket.end(interim("100 Continue")) }));
    const client = clientOf(server.url);
    await expect(client.create({ prompt: "x" })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(server.count("create")).toBe(1);
  });
});

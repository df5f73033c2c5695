import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { Service } from "../../../src/server/service.js";
import { gate } from "../../support/gate.js";
import { KEY, memoryStore, serviceFor } from "../../support/service.js";
import { ask, raw } from "../../support/wire.js";

const servers = new Map<number, Server>();
subscribe("http.server.request.start", (message) => {
  const { server, socket } = message as { server: Server; socket: Socket };
  servers.set(socket.localPort ?? 0, server);
});

let service: Service;
let socket: Socket;
afterEach(() => void socket.destroy());

/** How long a request may take to arrive here, instead of 30 s; Node looks once a second. */
const LIMIT_MS = 100;

/** A connection to a service that is in a hurry, and whose store finds keys only after `keys`. */
async function connected(keys: Promise<void> = Promise.resolve()) {
  const store = await memoryStore();
  const inUse = store.keys.isInUse.bind(store.keys);
  service = await serviceFor({
    store: Object.assign(store, { keys: { ...store.keys, isInUse: () => keys.then(inUse) } }),
  });
  const port = Number(new URL(service.baseUrl).port);
  await ask(service.baseUrl, { path: "/health" });
  Object.assign(servers.get(port) ?? {}, { requestTimeout: LIMIT_MS, headersTimeout: LIMIT_MS });
  socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await once(socket, "connect");
  const states = async () =>
    Object.values(await store.overview.countStates()).reduce((sum, count) => sum + count);
  return { answers: () => text.match(/^HTTP\/1\.1 \d+/gm) ?? [], states };
}

function head(length: number): string {
  const lines = ["POST /api/v1/conversations HTTP/1.1", "Host: localhost", `Authorization: Bearer ${KEY}`];
  return [...lines, "Content-Type: application/json", `Content-Length: ${length}`, "", ""].join("\r\n");
}

it("what comes after a 408 begins nothing", async () => {
  const { answers, states } = await connected();
  const body = JSON.stringify({ prompt: "x" });
  socket.write(head(body.length) + body.slice(0, -1));
  await once(socket, "data");
  expect(answers()).toEqual(["HTTP/1.1 408"]);
  socket.on("error", () => {});
  socket.write(body.slice(-1));
  // A second connection's answer comes after whatever the first one's last byte began.
  await ask(service.baseUrl, { path: "/health" });
  await ask(service.baseUrl, { path: "/health" });
  expect(await states()).toBe(0);
});

it.each([20, 500_000])(
  "a request of %i characters that arrived is not answered 408, however long it takes",
  async (length) => {
    const { opened: keys, open: found } = gate();
    const { answers, states } = await connected(keys);
    const body = JSON.stringify({ prompt: "x".repeat(length) });
    socket.write(head(body.length));
    socket.write(body);
    // A request that came later and never ends is late only after this one would have been.
    expect(await raw(service.baseUrl, head(1))).toMatch(/^HTTP\/1\.1 408 /);
    expect(answers()).toEqual([]);
    found();
    await once(socket, "data");
    expect([answers(), await states()]).toEqual([["HTTP/1.1 200"], 1]);
  },
);

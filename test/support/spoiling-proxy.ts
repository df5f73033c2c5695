import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen.js";

/** What happens to one connection; each but `pass` spoils it in its own way. */
const SPOILS = [
  "pass",
  "reset-at-once",
  "reset-after-request",
  "cut-answer",
  "garbage",
  "error-page",
  "slow",
] as const;
export type Spoil = (typeof SPOILS)[number];

export interface SpoilingProxy {
  url: string;
  /** The client's ports of the connections that were spoiled. */
  spoiledPorts: ReadonlySet<number>;
  connections: number;
  close(): Promise<void>;
}

const PAGE = "<html><h1>502 Bad Gateway</h1></html>";
const ERROR_PAGE = `HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: ${PAGE.length}\r\n\r\n${PAGE}`;

/** A TCP proxy to a port of this machine that spoils connections: `choose` says how, for each one. */
export async function spoilingProxy(port: number, choose: () => Spoil): Promise<SpoilingProxy> {
  const spoiledPorts = new Set<number>();
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)).on("error", () => {}));
    return socket;
  };
  const proxy = { url: "", spoiledPorts, connections: 0, close: async () => {} };
  const server = createServer((client) => {
    proxy.connections++;
    track(client);
    const spoil = choose();
    if (spoil !== "pass" && client.remotePort) spoiledPorts.add(client.remotePort);
    if (spoil === "reset-at-once") {
      setTimeout(() => client.resetAndDestroy(), 5);
      return;
    }
    const service = track(connect(port, "127.0.0.1"));
    client.on("data", (bytes: Buffer) => {
      service.write(bytes);
      if (spoil === "reset-after-request") setTimeout(() => client.resetAndDestroy(), 20);
    });
    service.on("data", (bytes: Buffer) => answer(client, bytes, spoil));
    client.on("close", () => service.destroy());
    service.on("close", () => client.end());
  });
  proxy.url = `http://127.0.0.1:${await listen(server)}`;
  proxy.close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return proxy;
}

function answer(client: Socket, bytes: Buffer, spoil: Spoil): void {
  switch (spoil) {
    case "cut-answer":
      client.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => client.resetAndDestroy());
      break;
    case "garbage":
      client.end("\u0000\u0001 no HTTP at all\r\n\r\n");
      break;
    case "error-page":
      client.end(ERROR_PAGE);
      break;
    case "slow":
      setTimeout(() => client.write(bytes), 700);
      break;
    default:
      client.write(bytes);
  }
}

/** Passes about half of all connections, and spoils the others in all ways alike. */
export function halfSpoiled(random: () => number): Spoil {
  if (random() < 0.5) return "pass";
  return SPOILS[1 + Math.floor(random() * (SPOILS.length - 1))] ?? "pass";
}

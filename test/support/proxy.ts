import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { leftovers } from "./leftovers.js";

/** An HTTP proxy that tunnels every CONNECT to one port of this machine, whatever name it asks for. */
export interface Proxy {
  url: string;
  /** The CONNECT requests and all others, with their headers. */
  requests: IncomingMessage[];
  /** All that went through the tunnels on its way out, as it went. */
  sent: Buffer[];
}

export async function proxy(port: number): Promise<Proxy> {
  const requests: IncomingMessage[] = [];
  const sent: Buffer[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(400).end();
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    requests.push(request);
    const out = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"));
    socket.on("data", (piece: Buffer) => sent.push(piece));
    socket.on("error", () => out.destroy());
    out.on("error", () => socket.resetAndDestroy());
    socket.pipe(out).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  leftovers.add(() => server.close().closeAllConnections());
  const address = server.address();
  const own = address && typeof address === "object" ? address.port : 0;
  return { url: `http://127.0.0.1:${own}`, requests, sent };
}

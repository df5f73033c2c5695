import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { listen } from "./listen.js";

/** An HTTP proxy that leads to ports of this machine: to one, or to that of a host. */
export interface Proxy {
  url: string;
  /** The CONNECT requests and all others, with their headers. */
  requests: IncomingMessage[];
  /** All that went through the tunnels on its way out, as it went. */
  sent: Buffer[];
  /** How many connections to it are open. */
  open(): number;
}

export interface ProxyOptions {
  /** Refuses every request with 407 that does not have this `user:password`. */
  login?: string;
  /** Refuses CONNECT with 403, as squid and tinyproxy do for any port but 443. */
  refusesConnect?: boolean;
}

export async function proxy(
  ports: number | ((host: string) => number),
  options: ProxyOptions = {},
): Promise<Proxy> {
  const portOf = (host = "") => (typeof ports === "number" ? ports : ports(host.replace(/:\d+$/, "")));
  const requests: IncomingMessage[] = [];
  const sent: Buffer[] = [];
  const mayPass = ({ headers }: IncomingMessage) =>
    options.login === undefined ||
    headers["proxy-authorization"] === `Basic ${Buffer.from(options.login).toString("base64")}`;
  const server = createServer((request, response) => {
    requests.push(request);
    if (mayPass(request)) forward(request, response, portOf(request.headers.host));
    else response.writeHead(407, { "proxy-authenticate": "Basic" }).end("login, please");
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    requests.push(request);
    const refusal = options.refusesConnect ? "403 Forbidden" : mayPass(request) ? undefined : "407 Login";
    if (refusal) return socket.end(`HTTP/1.1 ${refusal}\r\nContent-Length: 0\r\n\r\n`);
    const out = connect(portOf(request.url), "127.0.0.1", () =>
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n"),
    );
    socket.on("data", (piece: Buffer) => sent.push(piece));
    socket.on("error", () => out.destroy());
    // A peer that hangs would never end its side.
    socket.on("end", () => out.destroy() && socket.destroy());
    out.on("error", () => socket.resetAndDestroy());
    return socket.pipe(out).pipe(socket);
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, requests, sent, open: () => sockets.size };
}

/** As RFC 9112 §3.2.2 says: only the absolute form is a proxy's business. */
function forward(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, headers, url = "" } = request;
  if (!URL.canParse(url)) return void response.writeHead(400).end();
  const { pathname } = new URL(url);
  const options = { host: "127.0.0.1", port, method, path: pathname, headers };
  const onward = httpRequest(options, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.socket?.resetAndDestroy());
  request.pipe(onward);
}

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Behaviour } from "./behaviours.js";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.js";
import { leftovers } from "./leftovers.js";
import { type Operation, readRequests, type SeenRequest } from "./request-reader.js";

export const KEY = "sk-test-sentinel-4242";

/** Says what happens to a request; `nth` counts the requests of its operation from 1. */
export type Script = (operation: Operation, nth: number, request: SeenRequest) => Behaviour;

export interface FaultServerOptions {
  /** What happens to the nth connection, from 1, as it comes in; default: it is served. */
  onConnection?: (nth: number) => "serve" | "reset" | "hang" | "speak-no-http";
  /** Speaks TLS, with a certificate that nobody signed. */
  tls?: boolean;
}

/** A service on a real loopback socket that does to each request what a script says, and logs what it saw. */
export class FaultServer {
  /** Every request whose headers came, in the order they came. */
  readonly requests: SeenRequest[] = [];
  connections = 0;
  readonly #counts = new Map<Operation, number>();
  /** What went wrong in a script; a test that looks finds why a request hangs. */
  readonly errors: unknown[] = [];
  #script: Script;
  readonly #options: FaultServerOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  /** Use `faultServer`. */
  constructor(script: Script, options: FaultServerOptions) {
    this.#script = script;
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** How many connections are open. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** `http://127.0.0.1:port`, without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What a program needs to speak to it. */
  get env(): { RESEARCH_BASE_URL: string; RESEARCH_API_KEY: string } {
    return { RESEARCH_BASE_URL: this.url, RESEARCH_API_KEY: KEY };
  }

  /** How many requests of an operation came, or of all. */
  count(operation?: Operation): number {
    return operation ? (this.#counts.get(operation) ?? 0) : this.requests.length;
  }

  /** The requests of one operation. */
  of(operation: Operation): SeenRequest[] {
    return this.requests.filter((request) => request.operation === operation);
  }

  /** Replaces the script; requests are counted on. */
  script(script: Script): void {
    this.#script = script;
  }

  /** Listens, on the port it had before where there was one: connections were refused meanwhile. */
  async open(): Promise<void> {
    const server = this.#options.tls
      ? createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (socket) => this.#serve(socket))
      : createServer((socket) => this.#serve(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(this.#port, "127.0.0.1", resolve);
    });
    const address = server.address();
    if (address && typeof address === "object") this.#port = address.port;
  }

  /** Stops listening and resets every connection, so that new ones are refused until `open`. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    const server = this.#server;
    this.#server = undefined;
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  #serve(socket: Socket): void {
    const connection = ++this.connections;
    this.#sockets.add(socket);
    socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
    const behaviour = this.#options.onConnection?.(connection) ?? "serve";
    if (behaviour === "reset") socket.resetAndDestroy();
    else if (behaviour === "speak-no-http")
      socket.on("data", () => socket.end("220 smtp.example ESMTP ready\r\n"));
    else if (behaviour === "serve") this.#read(socket, connection);
  }

  #read(socket: Socket, connection: number): void {
    let behaviour: Behaviour | undefined;
    const act = (request: SeenRequest) => {
      (async () => behaviour?.act(socket, request))().catch((error) => this.errors.push(error));
    };
    readRequests(socket, connection, {
      onHead: (request) => {
        request.nth = (this.#counts.get(request.operation) ?? 0) + 1;
        this.#counts.set(request.operation, request.nth);
        this.requests.push(request);
        try {
          behaviour = this.#script(request.operation, request.nth, request);
        } catch (error) {
          this.errors.push(error);
          socket.resetAndDestroy();
          return false;
        }
        if (behaviour.on !== "head") return true;
        act(request);
        return false;
      },
      onBody: act,
    });
  }
}

/** Starts one on a free loopback port. It ends with the test file at the latest. */
export async function faultServer(script: Script, options: FaultServerOptions = {}): Promise<FaultServer> {
  const server = new FaultServer(script, options);
  await server.open();
  leftovers.add(() => void server.close());
  return server;
}

/**
 * A base URL at which connections are refused: port 1 is reserved, and has no service today. A port that was free a moment
 * ago may be another test's by now.
 */
export const REFUSED_URL = "http://127.0.0.1:1";

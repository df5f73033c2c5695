import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { folderWith } from "./folder.js";
import { leftovers } from "./leftovers.js";

/** What happens to the next statement of that name: it is lost on its way, or its answer is, or the server says instead that it ends. */
interface Loss {
  statement: string;
  what: "statement" | "answer" | "answer, with a goodbye";
  /** It is not the next statement that counts, but the next one after, or in, that of this name. */
  after?: string | undefined;
  /** Called when it happens. */
  then?: (() => void) | undefined;
}

/** An error of a German server that an operator stops: its length and fields, each with its letter. */
const GOODBYE = (() => {
  const fields = Buffer.from("SSCHWERWIEGEND\0VFATAL\0C57P01\0Mbeende Verbindung\0\0");
  const head = Buffer.from("E....");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
})();

/** PostgreSQL's own name for the socket of its usual port. */
const SOCKET = ".s.PGSQL.5432";

/** Stands between a client and a PostgreSQL server, on a Unix socket, and loses what it is told to. */
export class PostgresProxy {
  readonly url: string;
  /** Whether connections are refused and those that exist are cut. */
  #away = false;
  /** Whether nothing passes any more, in either direction. */
  #silent = false;
  #loss: Loss | undefined;
  #rewrite = (chunk: Buffer): Buffer => chunk;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(url: string) {
    const target = new URL(url);
    const folder = folderWith();
    const { hostname, port, searchParams } = target;
    const server = searchParams.get("host") ?? hostname;
    const isFolder = server.startsWith("/");
    const address = isFolder
      ? { path: join(server, SOCKET) }
      : { host: server.replace(/^\[|\]$/g, ""), port: Number(port || 5_432) };
    this.#server = createServer((client) => this.#join(client, createConnection(address)));
    this.#server.listen(join(folder, SOCKET));
    target.port = "";
    target.searchParams.set("host", folder);
    this.url = target.href;
    leftovers.add(() => this.close());
  }

  /** Replaces a text in each answer by another one of the same length. */
  replace(text: RegExp, by: string): void {
    this.#rewrite = (chunk) => Buffer.from(chunk.toString("latin1").replace(text, by), "latin1");
  }

  lose(statement: string, what: Loss["what"], then?: () => void, after?: string): void {
    this.#loss = { statement, what, then, after };
  }

  /** Cuts everything, and refuses to connect until `back`; resolves when nothing is open any more. */
  async away(): Promise<void> {
    this.#away = true;
    const closed = [...this.#sockets].map((socket) => once(socket, "close"));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  /** Neither end hears from the other, and connections stay open, as when a network drops packets. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  back(): void {
    this.#away = false;
    this.#silent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.#server.close();
    void this.away();
  }

  #join(client: Socket, server: Socket): void {
    let losing: Loss | undefined;
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", cut).on("close", () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    if (this.#away) cut();
    if (this.#silent) for (const socket of [client, server]) socket.pause();
    client.on("data", (chunk) => {
      if (this.#loss?.after && chunk.includes(`${this.#loss.after}\0`)) this.#loss.after = undefined;
      if (this.#loss && !this.#loss.after && chunk.includes(`${this.#loss.statement}\0`)) {
        losing = this.#loss;
        this.#loss = undefined;
        if (losing.what === "statement") {
          losing.then?.();
          return cut();
        }
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (losing === undefined) return client.write(this.#rewrite(chunk));
      losing.then?.();
      if (losing.what === "answer") cut();
      else client.end(GOODBYE);
    });
  }
}

import type { Client } from "pg";
import type { Clock } from "../../clock.js";
import type { Database, Statement } from "./database.js";

/** Between two tries to connect, ms. */
const RECONNECT_MS = 250;
/** SQLSTATEs of a database that knows no LISTEN: workers look for work by themselves, and learn of stops by a renewal. */
const NOT_OFFERED = /^(?:0A|42)/;

/** payload */
const NOTIFY: Statement = { name: "notify", text: "SELECT pg_notify('research', $1)" };

/** Tells the processes that listen, if the database can; what they miss they learn by looking. */
export function notify(database: Database, payload: string): Promise<void> {
  return database.read(NOTIFY, [payload]).then(
    () => {},
    () => {},
  );
}

/** What a process is notified of: a stop, work, or that it may have missed something. */
export type Notification = { kind: "stop"; requestId: string } | { kind: "work" } | { kind: "connected" };

/** LISTEN on a connection of its own, made again whenever it is lost. */
export class Notifications {
  readonly #closing = new AbortController();
  readonly #done: Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly notify: (notification: Notification) => void,
  ) {
    this.#done = this.#listen();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closing"));
    await this.#done;
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const { code = "" } = await this.#session(signal).catch((error) => error);
      if (NOT_OFFERED.test(code)) return;
      await this.clock.sleep(RECONNECT_MS, signal).catch(() => {});
    }
  }

  /** One connection, from its beginning to its end. */
  async #session(signal: AbortSignal): Promise<{ code?: string }> {
    const client = await this.database.connect();
    try {
      const lost = endOf(client, signal);
      client.on("notification", ({ payload = "" }) => this.notify(read(payload)));
      await client.query("LISTEN research");
      this.notify({ kind: "connected" });
      await lost;
      return {};
    } finally {
      await client.end().catch(() => {});
    }
  }
}

function endOf(client: Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    client.once("end", resolve);
    client.once("error", () => resolve());
  });
}

function read(payload: string): Notification {
  const [word, requestId] = payload.split(" ");
  return word === "stop" && requestId !== undefined ? { kind: "stop", requestId } : { kind: "work" };
}

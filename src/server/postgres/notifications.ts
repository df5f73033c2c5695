import type { Client } from "pg";
import type { Clock } from "../../clock.js";
import type { Database } from "./database.js";

/** Between two tries to connect, ms. */
const RECONNECT_MS = 250;

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
      await this.#session(signal).catch(() => {});
      await this.clock.sleep(RECONNECT_MS, signal).catch(() => {});
    }
  }

  /** One connection, from its beginning to its end. */
  async #session(signal: AbortSignal): Promise<void> {
    const client = await this.database.connect();
    try {
      const lost = endOf(client, signal);
      client.on("notification", ({ payload = "" }) => this.notify(read(payload)));
      await client.query("LISTEN research");
      this.notify({ kind: "connected" });
      await lost;
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

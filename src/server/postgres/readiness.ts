import { type Clock, untilAborted, withDeadline } from "../../ground/clock.js";
import { StoreUnavailableError } from "../conversations/conversation-store.js";
import { type Connection, connectionFailure, type Database } from "./database.js";

/** How long the answer may take, ms. */
const LIMIT_MS = 1_000;
/** The server ends the question a little sooner, or those that wait for a lock would pile up there. */
const SETTINGS = "SET statement_timeout = 800";

/** Whether states can be read just now, asked on a connection of its own: those of the pool may all be waiting. */
export class Readiness {
  #connection: Promise<Connection> | undefined;
  #asked: Promise<void> | undefined;
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Resolves or rejects within a second; rejects with a StoreUnavailableError. */
  check(): Promise<void> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  close(): void {
    void this.#connection?.then((client) => client.end()).catch(() => {});
  }

  async #ask(): Promise<void> {
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    let client: Connection | undefined;
    const ask = async () => {
      client = await connection;
      await client.query("SELECT FROM research.conversations LIMIT 1");
    };
    const { signal: never } = new AbortController();
    try {
      await withDeadline(this.clock, LIMIT_MS, never, new Error("timeout"), (signal) =>
        untilAborted(ask(), signal),
      );
    } catch (error) {
      // One that is still to come about is waited for.
      client?.socket.destroy();
      throw new StoreUnavailableError(`states cannot be read: ${connectionFailure(error)}`);
    }
  }

  #connect(): Promise<Connection> {
    const connection = this.database.connect(SETTINGS);
    const forget = () => {
      if (this.#connection === connection) this.#connection = undefined;
    };
    connection.then((client) => client.once("end", forget), forget);
    return connection;
  }
}

import type { Client, Pool, QueryResultRow } from "pg";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../../conversations/conversation-store.js";
import { ServiceStartError } from "../../start-error.js";
import { connectionFailure } from "./connection-failure.js";

/** A text with a name of its own, under which each connection prepares it once. */
export interface Statement {
  name: string;
  text: string;
}

/** How long a connection may take to come about, and a statement to be answered, ms. */
const CONNECT_LIMIT_MS = 5_000;
const ANSWER_LIMIT_MS = 30_000;
/** Connections of one process beside the one that listens. */
const CONNECTIONS = 10;

/** What of the driver is needed. */
export type Driver = Pick<typeof import("pg"), "Client" | "Pool">;

/** A statement was refused by PostgreSQL, and nothing of it was done. */
export class StatementRefused extends Error {
  override name = "StatementRefused";
  constructor(
    /** SQLSTATE */
    readonly code: string,
    options: ErrorOptions,
  ) {
    super(`PostgreSQL refused a statement with SQLSTATE ${code}`, options);
  }
}

/** Connections to one database. Settings that the URL leaves out come from PG* and ~/.pgpass. */
export class Database {
  readonly #pool: Pool;
  constructor(
    private readonly driver: Driver,
    private readonly url: string,
    log: (line: string) => void,
  ) {
    this.#pool = new driver.Pool({ ...this.#config(), max: CONNECTIONS, query_timeout: ANSWER_LIMIT_MS });
    // A connection that breaks while it is in use tells its client too, and without a listener that ends the process.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    this.#pool.on("error", (error) => log(`a database connection was lost: ${connectionFailure(error)}`));
  }

  /**
   * Runs one statement; on another connection if the first one had ended before it was sent. Rejects with
   * StatementRefused, StoreUnavailableError or StoreOutcomeUnknownError.
   */
  async run(statement: Statement, values: readonly unknown[]): Promise<QueryResultRow[]> {
    for (;;) {
      const client = await this.#pool.connect().catch((error) => {
        throw new StoreUnavailableError(`no connection to the database: ${connectionFailure(error)}`);
      });
      try {
        const { rows } = await client.query({ ...statement, values: [...values] });
        client.release();
        return rows;
      } catch (error) {
        const refused = refusalOf(error);
        client.release(refused === undefined);
        if (refused !== undefined) throw refused;
        if (!wasNotSent(error)) throw new StoreOutcomeUnknownError(connectionFailure(error));
      }
    }
  }

  /**
   * Runs a statement that changes nothing, once more if its connection was lost, as every idle one is when the
   * server restarts. Rejects with StatementRefused or StoreUnavailableError.
   */
  async read(statement: Statement, values: readonly unknown[]): Promise<QueryResultRow[]> {
    try {
      return await this.run(statement, values).catch((error) => {
        if (error instanceof StoreOutcomeUnknownError) return this.run(statement, values);
        throw error;
      });
    } catch (error) {
      if (error instanceof StoreOutcomeUnknownError) throw new StoreUnavailableError(error.message);
      throw error;
    }
  }

  /** A connection of its own, for what needs one for long. The caller ends it. Rejects with the driver's error. */
  async connect(): Promise<Client> {
    const client = new this.driver.Client(this.#config());
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #config() {
    return {
      connectionString: this.url,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
      application_name: "research",
    };
  }
}

/** Classes of SQLSTATE that say that the server cannot work just now: too few resources, an operator, read-only. */
const PASSING = /^(?:25006|40|53|55|57|58)/;

/** Undefined if the connection was lost: an error that ends the session can come after the commit. */
function refusalOf(error: unknown): Error | undefined {
  const { code, severity } = error as { code?: string; severity?: string };
  if (code === undefined || severity !== "ERROR") return undefined;
  if (PASSING.test(code))
    return new StoreUnavailableError(`the database cannot work just now (SQLSTATE ${code})`);
  return new StatementRefused(code, { cause: error });
}

/**
 * The server had closed the connection when the statement was written, so that the end of it, without which
 * PostgreSQL commits nothing, was not delivered.
 */
function wasNotSent(error: unknown): boolean {
  const { code, message = "" } = error as { code?: string; message?: string };
  return code === "EPIPE" || /not queryable/.test(message);
}

/** The driver, which only users of a database install. Throws a ServiceStartError that says how. */
export async function loadDriver(): Promise<Driver> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    const message =
      "A database needs the package pg, which is not installed beside research-cli. " +
      "Install it with: npm install -g pg (without -g if research-cli is a dependency of a project).";
    throw new ServiceStartError("DATABASE_UNUSABLE", message, { cause: error });
  }
}

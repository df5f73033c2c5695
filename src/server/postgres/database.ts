import { Socket } from "node:net";
import type { Client, ClientConfig, Pool, QueryResultRow } from "pg";
import type { Clock } from "../../core/clock.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversations/conversation-store.js";
import { type Log, TroubleLog } from "../monitoring/operator-log.js";
import { ServiceStartError } from "../start-error.js";

/** A statement and the name under which each connection prepares it once. */
export interface SqlStatement {
  name: string;
  text: string;
}

/** Creates a statement: defineSql("name")`text`. */
export function defineSql(name: string) {
  return (strings: TemplateStringsArray, ...parts: readonly (string | number)[]): SqlStatement => ({
    name,
    text: String.raw(strings, ...parts),
  });
}

/** Maximum number of rows that one statement changes, so that it holds no lock for long. Most of its time goes into the sums. */
export const PORTION = 500;

/** Timeout of a connection attempt, in ms. */
const CONNECT_LIMIT_MS = 5_000;
/**
 * The server plans a statement once in each session, instead of for each of its values. In a new database it takes all
 * tables for small ones, and a session keeps these plans until the first ANALYZE, so a plan may use only indexes, in
 * their order. Before PostgreSQL 18, a plan that has no such choice has a cost for which the server would compile it.
 *
 * The timeouts (ms) end a statement, or one that waits for a lock. Without them, statements that wait for one lock would
 * fill the server's connections, because it does not notice that their clients have left.
 */
const LIMITS = `
  SET plan_cache_mode = force_generic_plan;
  SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
  SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
  SET statement_timeout = 10000;
  SET lock_timeout = 5000;
  SET idle_in_transaction_session_timeout = 10000`;
/** Timeout for an answer, in ms. It is longer than the server's own timeout, so only a silent server exceeds it. */
const ANSWER_LIMIT_MS = 15_000;
/** The corresponding timeouts for a probe of `/ready`. */
const PROBE_LIMITS = "SET statement_timeout = 800";
const PROBE_LIMIT_MS = 1_000;
/** Timeout of a statement that runs without the limits, in ms. */
const LONG_MS = 3_600_000;
/** How long open connections may delay the end of the process, in ms. */
const CLOSE_LIMIT_MS = 2_000;
/** Number of connections that do not run ordinary statements: for LISTEN, `/ready` and the lease. */
const OWN_CONNECTIONS = 3;
export const LEAST_CONNECTIONS = OWN_CONNECTIONS + 1;

const CONNECTIONS = "connections to the database";

/** The part of the driver (the package pg) that the store uses. */
export type Driver = Pick<typeof import("pg"), "Client" | "Pool">;

/** A connection whose socket can be destroyed, because a silent server does not confirm an ordinary end. */
export type Connection = Client & { socket: Socket };

export interface DatabaseOptions {
  driver: Driver;
  /** The URL of the database. PG* and ~/.pgpass supply the settings that the URL omits. */
  url: string;
  /** Maximum number of connections of this process; at least LEAST_CONNECTIONS. */
  connections: number;
  clock: Clock;
  log: Log;
}

/** Thrown if PostgreSQL refused a statement and did nothing. */
export class StatementRefused extends Error {
  override name = "StatementRefused";
  constructor(
    /** The SQLSTATE code. */
    readonly code: string,
    options: ErrorOptions,
  ) {
    super(`PostgreSQL refused a statement with SQLSTATE ${code}`, options);
  }
}

/** The pools of connections to one database. */
export class Database {
  readonly #pool: Pool;
  /** A connection for urgent statements, which must not wait for statements that wait for a lock. */
  readonly #urgent: Pool;
  /** A connection for `/ready`, because all others may be waiting. */
  readonly #probe: Pool;
  readonly #connectionClass: new (
    config: ClientConfig,
  ) => Connection;
  readonly #open = new Set<Socket>();
  readonly #troubles: TroubleLog;
  /** Whether `closeAtOnce` has ended the waiting time, so that every call rejects. */
  isGivenUp = false;
  constructor(private readonly options: DatabaseOptions) {
    const { driver, clock, connections, log } = options;
    const open = this.#open;
    this.#troubles = new TroubleLog(log, clock);
    this.#connectionClass = class extends driver.Client {
      readonly socket: Socket;
      constructor(config: ClientConfig) {
        const socket = new Socket();
        super({ ...config, stream: () => socket });
        this.socket = socket;
        open.add(socket.once("close", () => open.delete(socket)));
        // A connection that breaks in use also emits `error`, which ends the process if it has no listener.
        this.on("error", () => {});
      }
    };
    this.#pool = this.#createPool(connections - OWN_CONNECTIONS);
    this.#urgent = this.#createPool(1);
    this.#probe = this.#createPool(1, PROBE_LIMITS, PROBE_LIMIT_MS, PROBE_LIMIT_MS);
  }

  /** Number of connections that run a statement, and of callers that wait for a connection. */
  get figures(): { connections: number; connectionsWaiting: number } {
    const { idleCount, totalCount, waitingCount } = this.#pool;
    return { connections: totalCount - idleCount, connectionsWaiting: waitingCount };
  }

  /**
   * Runs one statement, in which an undefined value is NULL; repeats it on another connection if the first one ended before the statement was sent. `long`
   * runs it without timeouts, `urgent` and `probe` on a reserved connection; `probe` ends within a second or two.
   * Rejects with StatementRefused, StoreUnavailableError or StoreOutcomeUnknownError.
   */
  async run(
    statement: SqlStatement,
    values: readonly unknown[],
    how?: "long" | "urgent" | "probe",
  ): Promise<QueryResultRow[]> {
    const pool = how === "urgent" ? this.#urgent : how === "probe" ? this.#probe : this.#pool;
    const isLong = how === "long";
    for (;;) {
      if (this.isGivenUp) throw new StoreUnavailableError("the store is closed");
      const client = (await pool.connect().catch((error) => this.#throwUnreachable(error))) as Connection & {
        release(destroy?: boolean): void;
      };
      try {
        if (isLong) await client.query("SET statement_timeout = 0; SET lock_timeout = 0");
        const limit = isLong && { query_timeout: LONG_MS };
        const { rows } = await client.query({ ...statement, values: [...values], ...limit });
        client.release(isLong);
        return rows;
      } catch (error) {
        const refused = convertRefusal(error);
        if (refused === undefined) client.socket.destroy();
        // After a failover this server may be the old primary, while its address already leads to the new one.
        client.release(refused === undefined || isReadOnlyServer(error));
        if (refused !== undefined) throw refused;
        if (!isUnsentStatement(error)) throw new StoreOutcomeUnknownError(this.describeFailure(error));
      }
    }
  }

  /** Runs a statement that changes nothing; repeats it once if its connection was lost. Rejects as `run` does. */
  async read(statement: SqlStatement, values: readonly unknown[]): Promise<QueryResultRow[]> {
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

  /** Opens a separate connection without timeouts. The caller has to end it. Rejects with the driver's error. */
  async connect(): Promise<Connection> {
    if (this.isGivenUp) throw new Error("the store is closed");
    const client = new this.#connectionClass(this.#buildConfig());
    try {
      await client.connect();
      return client;
    } catch (error) {
      // Without a password, the driver would leave the server waiting for one.
      client.socket.destroy();
      throw error;
    }
  }

  /** Describes why a connection failed, in words that can end a sentence. */
  describeFailure(error: unknown): string {
    const { host, port } = new this.options.driver.Client(this.#buildConfig());
    return describeConnectionFailure(error, host.startsWith("/") ? host : `${host}:${port}`);
  }

  /** Destroys all connections that are still open after `ms`, so that every waiting call rejects. */
  closeAtOnce(ms = CLOSE_LIMIT_MS): void {
    const destroy = () => {
      this.isGivenUp = true;
      for (const socket of this.#open) socket.destroy();
    };
    setTimeout(destroy, ms).unref();
  }

  /** Ends the connections. A silent server delays the end of the process only briefly. */
  async close(): Promise<void> {
    this.closeAtOnce();
    await Promise.all([this.#pool, this.#urgent, this.#probe].map((pool) => pool.end()));
  }

  #createPool(
    max: number,
    limits = LIMITS,
    answerLimitMs = ANSWER_LIMIT_MS,
    connectLimitMs = CONNECT_LIMIT_MS,
  ): Pool {
    const pool = new this.options.driver.Pool({
      ...this.#buildConfig(),
      max,
      query_timeout: answerLimitMs,
      connectionTimeoutMillis: connectLimitMs,
      Client: this.#connectionClass as new () => Connection,
      // Set the limits in a statement, because a pooler refuses them as options of the connection.
      onConnect: (client) => client.query(limits).catch(() => {}),
    });
    pool.on("connect", () => this.#troubles.noteRecovery(CONNECTIONS));
    pool.on("error", (error) => this.#troubles.noteFailure(CONNECTIONS, this.describeFailure(error)));
    return pool;
  }

  #throwUnreachable(error: unknown): never {
    const reason = this.describeFailure(error);
    // A timeout of the pool only means that all connections are in use.
    if (!/timeout exceeded/.test(String(error))) this.#troubles.noteFailure(CONNECTIONS, reason);
    throw new StoreUnavailableError(`no connection to the database: ${reason}`);
  }

  #buildConfig() {
    return {
      connectionString: this.options.url,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
      application_name: "research",
    };
  }
}

/** SQLSTATE codes of a server that cannot work at present: too few resources, an operator's command, a lock, or read-only. */
const PASSING = /^(?:25006|40|53|55|57)/;
/** SQLSTATE codes that end the session or leave the outcome unknown, because the statement may have been committed. */
const UNKNOWN = /^(?:08|25P0[34]|40003|57P|58|F0|XX)/;

/** Converts a driver's error to ours; undefined if the outcome is unknown. Ignores the severity's text, which the server translates. */
function convertRefusal(error: unknown): Error | undefined {
  const { code, severity } = error as { code?: string; severity?: string };
  // Errors of the operating system have a code, too, but no severity.
  if (code === undefined || severity === undefined || UNKNOWN.test(code)) return undefined;
  if (isReadOnlyServer(error)) return new StoreUnavailableError(READ_ONLY, { sqlstate: code });
  if (PASSING.test(code))
    return new StoreUnavailableError("the database cannot work just now", { sqlstate: code });
  return new StatementRefused(code, { cause: error });
}

/** Returns whether the server refused a statement because the server is read-only. */
function isReadOnlyServer(error: unknown): boolean {
  return (error as { code?: string }).code === "25006";
}

const READ_ONLY =
  "the database is read-only: it is a standby, or default_transaction_read_only is on. " +
  "Let its address lead to the primary: each statement that is refused so makes a new connection";

/** Returns whether the connection closed before the whole statement was written, so that nothing was committed. */
function isUnsentStatement(error: unknown): boolean {
  const { code, message = "" } = error as { code?: string; message?: string };
  return code === "EPIPE" || /not queryable/.test(message);
}

/** Loads the driver, which only users of a database install. Rejects with a ServiceStartError that says how to install it. */
export async function loadDriver(): Promise<Driver> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    const message =
      "A database needs the package pg, which is not installed beside research-cli. " +
      "Install it with: npm install -g pg (without -g if research-cli is a dependency of a project).";
    throw new ServiceStartError(message, { cause: error });
  }
}

/** Why a connection failed, by SQLSTATE or system code, in words that can end a sentence; `$` stands for the address. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection to $ was refused",
  ECONNRESET: "the connection to $ was reset",
  ENOENT: "no server has a socket at $",
  EACCES: "this user may not use the socket at $",
  ENOTFOUND: "the host name of $ is not known",
  EAI_AGAIN: "the host name of $ could not be looked up",
  EHOSTUNREACH: "the host of $ cannot be reached",
  ENETUNREACH: "the network of $ cannot be reached",
  ETIMEDOUT: "$ did not answer in time",
  "28000": "it does not let this user in",
  "28P01": "it refused the user or the password",
  "3D000": "it has no database of that name",
  "42501": "its user may not create the schema",
  "53300": "it has no connection left",
  "57P03": "it is starting up or shutting down",
};

/** Describes why a connection failed, without the error's own message, which may repeat the environment. */
export function describeConnectionFailure(error: unknown, address: string): string {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  const reason = REASONS[code];
  if (reason !== undefined) return reason.replace("$", () => address);
  if (/password must be a string/.test(message)) return "it asks for a password, and PGPASSWORD is not set";
  if (/does not support SSL/.test(message)) return "it does not offer TLS";
  if (/timeout/i.test(message)) return "it did not answer in time";
  return code === "" ? "the connection ended" : `the connection failed with ${code}`;
}

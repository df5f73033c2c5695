import type { Clock } from "../../core/clock.js";
import type { Log } from "../monitoring/log.js";
import type { Role } from "../role.js";
import { ServiceStartError } from "../start-error.js";
import { Claims } from "./claims.js";
import { Database, LEAST_CONNECTIONS, loadDriver } from "./database.js";
import { PostgresKeyStore } from "./key-store.js";
import { migrate } from "./migrations.js";
import { PostgresOverview } from "./states.js";
import { PostgresStore } from "./store.js";

export interface PostgresStoreOptions {
  /** A URL that `findUrlProblem` accepts. */
  url: string;
  role: Role;
  leaseMs: number;
  /** Maximum number of connections of this process; at least LEAST_CONNECTIONS. */
  connections: number;
  /** Minimum time in PENDING, in ms. */
  pendingMs: number;
  clock: Clock;
  log: Log;
}

/** Opens the store and brings the schema up to date. Rejects with a ServiceStartError. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const database = new Database({ ...options, driver: await loadDriver() });
  const claims = new Claims({ ...options, database });
  try {
    await bringUpToDate(database);
    await claims.open();
    return new PostgresStore({ ...options, database, claims });
  } catch (error) {
    database.closeAtOnce();
    await claims.close();
    await database.close();
    throw startError(error, database);
  }
}

/** Opens only the keys and their spending. Services may run meanwhile. The key store's `close` ends the connections. */
export async function openPostgresKeys(url: string, clock: Clock) {
  const driver = await loadDriver();
  const database = new Database({ driver, url, clock, connections: LEAST_CONNECTIONS, log: () => {} });
  try {
    await bringUpToDate(database);
    const keys = new PostgresKeyStore(database, clock, () => database.close());
    return { keys, overview: new PostgresOverview({ database, clock }) };
  } catch (error) {
    await database.close();
    throw startError(error, database);
  }
}

async function bringUpToDate(database: Database): Promise<void> {
  const client = await database.connect();
  try {
    await migrate(client);
  } finally {
    await client.end();
  }
}

function startError(error: unknown, database: Database): ServiceStartError {
  if (error instanceof ServiceStartError) return error;
  const message = `The database cannot be used: ${database.describeFailure(error)}.`;
  return new ServiceStartError(message, { cause: error });
}

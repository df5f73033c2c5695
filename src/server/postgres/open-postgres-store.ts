import type { Clock } from "../../core/clock.js";
import { ServiceStartError } from "../start-error.js";
import { Database, type DatabaseOptions, LEAST_CONNECTIONS, loadDriver } from "./database.js";
import { PostgresKeyStore } from "./key-store.js";
import { migrateSchema } from "./migrations.js";
import { PostgresClaims } from "./postgres-claims.js";
import { PostgresStore, type StoreParts } from "./postgres-store.js";
import type { LeaseOptions } from "./process-lease.js";
import { PostgresOverview } from "./read-states.js";

/** `url`: one that `findUrlProblem` accepts. */
export type PostgresStoreOptions = Omit<DatabaseOptions, "driver"> &
  Pick<LeaseOptions, "role" | "leaseMs"> &
  Pick<StoreParts, "pendingMs">;

/** Opens the store and brings the schema up to date. Rejects with a ServiceStartError. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const database = await openDatabase(options);
  const claims = new PostgresClaims({ ...options, database });
  try {
    await claims.open();
  } catch (error) {
    return await failStart(database, error);
  }
  return new PostgresStore({ ...options, database, claims });
}

/** Opens only the keys and their spending. Services may run meanwhile. The key store's `close` ends the connections. */
export async function openPostgresKeys(url: string, clock: Clock) {
  const database = await openDatabase({ url, clock, connections: LEAST_CONNECTIONS, log: () => {} });
  const keys = new PostgresKeyStore(database, clock, () => database.close());
  return { keys, overview: new PostgresOverview({ database, clock }) };
}

async function openDatabase(options: Omit<DatabaseOptions, "driver">): Promise<Database> {
  const database = new Database({ ...options, driver: await loadDriver() });
  try {
    const client = await database.connect();
    await migrateSchema(client).finally(() => client.end());
    return database;
  } catch (error) {
    return await failStart(database, error);
  }
}

async function failStart(database: Database, error: unknown): Promise<never> {
  await database.close();
  if (error instanceof ServiceStartError) throw error;
  const message = `The database cannot be used: ${database.describeFailure(error)}.`;
  throw new ServiceStartError(message, { cause: error });
}

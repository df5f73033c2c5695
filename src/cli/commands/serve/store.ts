import { UsageError } from "../../../machine/errors.js";
import type { ConversationStore } from "../../../server/conversations/conversation-store.js";
import { openLocalStore } from "../../../server/conversations/local/open-local-store.js";
import type { Log } from "../../../server/monitoring/log.js";
import { checkDatabaseUrl, InvalidDatabaseUrl } from "../../../server/postgres/database-url.js";
import type { PostgresStore } from "../../../server/postgres/store.js";
import type { Role } from "../../../server/role.js";
import type { Context } from "../../context.js";

/** Where a service keeps what it has to remember. */
export interface StoreOptions {
  data?: string;
  /** As given; `databaseOf` checks it. */
  database?: string;
  role?: Role;
  /** ms */
  lease?: number;
  connections?: number;
  /** Least time in PENDING, ms. */
  pending: number;
}

/** A worker that is silent for so long has lost its conversations to others, ms. */
const DEFAULT_LEASE_MS = 15_000;
const LEAST_LEASE_MS = 1_000;
const DEFAULT_CONNECTIONS = 10;

/**
 * The URL of the shared database, by flag or RESEARCH_SERVE_DATABASE; undefined if the service keeps its own store.
 * Throws UsageError for an invalid URL, a password in the argument, and flags that exclude each other.
 */
export function databaseOf(ctx: Context, options: Omit<StoreOptions, "pending">): string | undefined {
  const variable = ctx.host.env.RESEARCH_SERVE_DATABASE || undefined;
  const given = options.database ?? variable;
  if (given === undefined) {
    for (const flag of ["role", "lease", "connections"] as const)
      if (options[flag] !== undefined) throw new UsageError(`--${flag} needs --database URL`);
    return undefined;
  }
  const [name, from] =
    options.database === undefined
      ? (["RESEARCH_SERVE_DATABASE", "variable"] as const)
      : (["--database", "argument"] as const);
  if (options.lease !== undefined && options.lease < LEAST_LEASE_MS)
    throw new UsageError("--lease must be at least 1s: it is renewed three times in that time");
  if (options.data !== undefined) throw new UsageError(`--data and ${name} exclude each other`);
  try {
    return checkDatabaseUrl(given, from);
  } catch (error) {
    if (error instanceof InvalidDatabaseUrl) throw new UsageError(`${name} ${error.message}`);
    throw error;
  }
}

/** Opens the store of one process, or the one that processes share. Rejects with a ServiceStartError. */
export async function openStore(
  ctx: Context,
  options: StoreOptions & { log: Log },
  database: string | undefined,
): Promise<{ store: ConversationStore; shared?: PostgresStore }> {
  const { clock } = ctx.host;
  const common = { clock, log: options.log, pendingMs: options.pending };
  if (database === undefined) {
    return { store: await openLocalStore({ ...common, ...(options.data && { dataDir: options.data }) }) };
  }
  const { openPostgresStore } = await import("../../../server/postgres/open.js");
  const { role = "all", lease: leaseMs = DEFAULT_LEASE_MS, connections = DEFAULT_CONNECTIONS } = options;
  const shared = await openPostgresStore({ ...common, url: database, role, leaseMs, connections });
  return { store: shared, shared };
}

import { UsageError } from "../../../app/errors.js";
import { MAX_KEY_BYTES, readText } from "../../../app/read-text.js";
import { isLoopback } from "../../../core/http/base-url-and-proxy.js";
import { TIERS, type Tier } from "../../../core/protocol/rate-limits.js";
import { isSendableKey } from "../../../core/secrets/hide-key.js";
import type { ConversationStore } from "../../../server/conversations/conversation-store.js";
import { openLocalStore } from "../../../server/conversations/local/open-local-store.js";
import { hashKey, shortenHash } from "../../../server/keys/key-store.js";
import { type OwnKey, readOrCreateOwnKey } from "../../../server/keys/own-key.js";
import type { Log } from "../../../server/monitoring/operator-log.js";
import { findUrlProblem } from "../../../server/postgres/database-url.js";
import type { Context } from "../../command-context.js";
import type { ServeOptions } from "./flags.js";

type StoreOptions = Pick<ServeOptions, "data" | "database" | "role" | "lease" | "connections" | "pending">;

/** Default lease in ms: other processes take over the conversations of a worker that has been silent for longer. */
const DEFAULT_LEASE_MS = 15_000;
const LEAST_LEASE_MS = 1_000;
const DEFAULT_CONNECTIONS = 10;

/** Returns the URL of the shared database; undefined without one. Throws UsageError for an invalid URL, a password in the flag, or conflicting flags. */
export function readDatabaseUrl(ctx: Context, options: Partial<StoreOptions>): string | undefined {
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
  if (options.data !== undefined) throw new UsageError(`--data and ${name} cannot be used together`);
  const problem = findUrlProblem(given, from);
  if (problem !== undefined) throw new UsageError(`${name} ${problem}`);
  return given;
}

/** Opens the store of a single process, or the database that processes share. Rejects with a ServiceStartError. */
export async function openStore(
  ctx: Context,
  options: StoreOptions & { log: Log },
  database: string | undefined,
): Promise<ConversationStore> {
  const { clock } = ctx.host;
  const common = { clock, log: options.log, pendingMs: options.pending };
  if (database === undefined)
    return await openLocalStore({ ...common, ...(options.data && { dataDir: options.data }) });
  const { openPostgresStore } = await import("../../../server/postgres/open-postgres-store.js");
  const { role = "all", lease: leaseMs = DEFAULT_LEASE_MS, connections = DEFAULT_CONNECTIONS } = options;
  return await openPostgresStore({ ...common, url: database, role, leaseMs, connections });
}

type OwnKeyOptions = Pick<ServeOptions, "host" | "apiKeyFile" | "tier" | "data">;

/** The tier of the only key of a service to which no keys were added. */
export const DEFAULT_TIER: Tier = "enterprise";

/** Returns the key in the flag or the variable; undefined without one. Rejects with UsageError for an invalid key. */
export async function readGivenKey(ctx: Context, { apiKeyFile }: OwnKeyOptions): Promise<string | undefined> {
  const text =
    apiKeyFile === undefined
      ? ctx.host.env.RESEARCH_SERVE_API_KEY
      : await readText(apiKeyFile, "the key file", ctx.signal, MAX_KEY_BYTES);
  const given = text?.trim();
  if (given && !isSendableKey(given))
    throw new UsageError("the service's key must be visible ASCII without spaces");
  if (given === "" && apiKeyFile !== undefined) throw new UsageError(`the key file ${apiKeyFile} is empty`);
  return given || undefined;
}

/** Opens the store, and returns its only key, or no key if keys were added. Rejects with a UsageError or a ServiceStartError. */
export async function openStoreWithKey(
  ctx: Context,
  options: OwnKeyOptions & StoreOptions & { log: Log },
  database: string | undefined,
  given: string | undefined,
): Promise<{ store: ConversationStore; key?: OwnKey }> {
  const store = await openStore(ctx, options, database);
  try {
    if (await store.keys.isInUse()) {
      checkNoOwnKey(options);
      return { store };
    }
    const key = await chooseOwnKey(options, given, database !== undefined);
    const limits = TIERS[options.tier ?? DEFAULT_TIER];
    await store.agreeOn?.(`${shortenHash(hashKey(key.apiKey))} ${limits.create} ${limits.stop}`);
    return { store, key };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Throws UsageError for flags about the single key if keys were added, because then only those are valid. */
function checkNoOwnKey({ apiKeyFile, tier }: OwnKeyOptions): void {
  const name = apiKeyFile === undefined ? tier && "--tier" : "--api-key-file";
  if (name === undefined) return;
  throw new UsageError(
    `${name} cannot be used here: keys were added to this service, and only those are valid`,
    "Leave it out; `research serve keys list` shows the keys.",
  );
}

/** Returns the given key, or creates one. Throws UsageError if one must be given: with a database (`shared`), or if other machines can connect. */
async function chooseOwnKey(
  options: OwnKeyOptions,
  given: string | undefined,
  shared: boolean,
): Promise<OwnKey> {
  if (given !== undefined) return { apiKey: given, fresh: false };
  if (shared) {
    throw new UsageError(
      "a service with a database needs a key, and it has none",
      "Add one with `research serve keys add NAME --database URL`, or set RESEARCH_SERVE_API_KEY.",
    );
  }
  if (!isLoopback(options.host)) {
    throw new UsageError(
      `--host ${options.host} lets other machines connect, which requires your own key`,
      "Give it with --api-key-file PATH or RESEARCH_SERVE_API_KEY, or add keys: research serve keys add NAME --data DIR.",
    );
  }
  return readOrCreateOwnKey(options.data);
}

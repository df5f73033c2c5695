import { existsSync, statSync } from "node:fs";
import { UsageError } from "../../../machine/errors.js";
import { type HourlyLimit, TIERS, type Tier } from "../../../protocol/limits.js";
import { StoreUnavailableError } from "../../../server/conversations/conversation-store.js";
import { makeFolder } from "../../../server/files.js";
import { KeyFile } from "../../../server/keys/key-file.js";
import { isValid, type KeyStore, newKey, type ServiceKey } from "../../../server/keys/key-store.js";
import { ServiceStartError } from "../../../server/start-error.js";
import { inWords, LocalError } from "../../../store/files.js";
import type { Context } from "../../context.js";
import type { KeyOptions } from "./flags.js";
import { databaseOf } from "./store.js";

/** Which store's keys. */
type StoreChoice = Pick<KeyOptions, "data" | "database">;

const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Adds a key and prints it. Throws UsageError for an invalid or used name, LocalError for an unusable store. */
export async function addKey(ctx: Context, name: string, options: KeyOptions): Promise<number> {
  if (!NAME.test(name)) {
    throw new UsageError(
      `invalid key name: ${name}`,
      "Use 1 to 64 letters, digits, dots, underscores and hyphens.",
    );
  }
  const tier = options.tier ?? "free";
  const limits = limitsOf(tier, options);
  return withKeys(ctx, options, true, async (keys) => {
    const now = ctx.host.clock.now();
    const { apiKey, key } = newKey({ name, tier, limits, now, validMs: options.expires });
    if (!(await keys.add(key))) {
      throw new UsageError(
        `the key name ${name} is in use`,
        `Revoke it first: research serve keys revoke ${name}`,
      );
    }
    try {
      if (ctx.reporter.json) await ctx.reporter.resultJson({ ...described(key), api_key: apiKey });
      else await ctx.reporter.result(`${apiKey}\n`);
    } catch (error) {
      // The key was not shown, and only its hash is kept.
      await keys.revoke(name, ctx.host.clock.now());
      throw error;
    }
    await ctx.reporter.say(`This is the key of ${name}. It is not shown again.`);
    return 0;
  });
}

/** Prints all keys: `name\tstate\ttier\tcreates\tstops\tcreated_at\texpires_at`, or a JSON array. */
export async function listKeys(ctx: Context, options: StoreChoice): Promise<number> {
  return withKeys(ctx, options, false, async (keys) => {
    const now = ctx.host.clock.now();
    const all = (await keys.list()).map((key) => ({ ...described(key), state: stateOf(key, now) }));
    if (ctx.reporter.json) await ctx.reporter.resultJson(all);
    else await ctx.reporter.result(all.map(line).join(""));
    return 0;
  });
}

/** Makes a key invalid. Throws UsageError if no valid or expired key has the name. */
export async function revokeKey(ctx: Context, name: string, options: StoreChoice): Promise<number> {
  return withKeys(ctx, options, false, async (keys) => {
    if (!(await keys.revoke(name, ctx.host.clock.now()))) {
      throw new UsageError(`no key has the name ${name}`, "`research serve keys list` shows all keys.");
    }
    if (ctx.reporter.json) await ctx.reporter.resultJson({ name, state: "revoked" });
    await ctx.reporter.say(`The key ${name} is revoked.`);
    return 0;
  });
}

/**
 * Uses the keys of a service, which may be running. A data folder that does not exist is made only with `creates`.
 * Throws UsageError if no store is named, LocalError for an unusable or a missing one.
 */
async function withKeys(
  ctx: Context,
  options: StoreChoice,
  creates: boolean,
  use: (keys: KeyStore) => Promise<number>,
): Promise<number> {
  const keys = await openKeys(ctx, options, creates);
  try {
    return await use(keys);
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new LocalError(error.message, { cause: error });
    throw error;
  } finally {
    await keys.close();
  }
}

/** §8: "custom" is two numbers; the other tiers have theirs. */
function limitsOf(tier: Tier, { createsPerHour, stopsPerHour }: KeyOptions): HourlyLimit {
  if (tier === "enterprise") {
    if (createsPerHour === undefined || stopsPerHour === undefined) {
      throw new UsageError("--tier enterprise needs --creates-per-hour and --stops-per-hour");
    }
    return { create: createsPerHour, stop: stopsPerHour };
  }
  if (createsPerHour !== undefined || stopsPerHour !== undefined) {
    throw new UsageError(
      `--creates-per-hour and --stops-per-hour need --tier enterprise, and the tier is ${tier}`,
    );
  }
  return TIERS[tier];
}

function described({ name, tier, limits, createdAt, expiresAt, revokedAt }: ServiceKey) {
  return {
    name,
    tier,
    creates_per_hour: limits.create,
    stops_per_hour: limits.stop,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    revoked_at: revokedAt === undefined ? null : new Date(revokedAt).toISOString(),
  };
}

function stateOf(key: ServiceKey, now: number): "valid" | "expired" | "revoked" {
  if (key.revokedAt !== undefined) return "revoked";
  return isValid(key, now) ? "valid" : "expired";
}

function line(key: ReturnType<typeof described> & { state: string }): string {
  const { name, state, tier, creates_per_hour, stops_per_hour, created_at, expires_at } = key;
  return `${[name, state, tier, creates_per_hour, stops_per_hour, created_at, expires_at ?? "-"].join("\t")}\n`;
}

async function openKeys(ctx: Context, options: StoreChoice, creates: boolean): Promise<KeyStore> {
  const { clock } = ctx.host;
  const { data } = options;
  const url = databaseOf(ctx, options);
  try {
    if (url !== undefined) {
      const { openPostgresKeyStore } = await import("../../../server/postgres/open.js");
      return await openPostgresKeyStore(url, clock);
    }
    if (data === undefined) {
      throw new UsageError(
        "no store is named",
        "Say where the service keeps its data: --data DIR or --database URL.",
      );
    }
    if (creates) await makeFolder(data);
    else if (!existsSync(data)) throw new LocalError(`the data folder does not exist: ${data}`);
    if (!statSync(data).isDirectory()) throw new Error("it is not a folder");
    return new KeyFile(data, clock);
  } catch (error) {
    if (error instanceof UsageError || error instanceof LocalError) throw error;
    if (error instanceof ServiceStartError) throw new LocalError(error.message, { cause: error });
    throw new LocalError(`the data folder ${data} cannot be used: ${inWords(error)}`, { cause: error });
  }
}

import { existsSync, statSync } from "node:fs";
import { CodedError, UsageError } from "../../../app/errors.js";
import { makePrivateFolder } from "../../../core/files/file-access.js";
import { describeSystemError, LocalError } from "../../../core/files/local-error.js";
import { type HourlyLimit, TIERS, type Tier } from "../../../core/protocol/rate-limits.js";
import { formatExactDuration } from "../../../core/text/time-format.js";
import {
  type KeyUse,
  type Overview,
  type SpentSum,
  StoreError,
  StoreOutcomeUnknownError,
} from "../../../server/conversations/conversation-store.js";
import { checkDataFormat, readKeyUsage } from "../../../server/conversations/local/open-local-store.js";
import { KeyFile } from "../../../server/keys/key-file.js";
import {
  createServiceKey,
  isKeyValid,
  type KeyBudgets,
  type KeyStore,
  type Rate,
  type ServiceKey,
} from "../../../server/keys/key-store.js";
import { ServiceStartError } from "../../../server/start-error.js";
import type { Context } from "../../command-context.js";
import { formatTable } from "../../terminal/align-columns.js";
import type { KeyOptions, SetOptions, SpentOptions } from "./flags.js";
import { readDatabaseUrl } from "./open-store.js";

type StoreChoice = Pick<KeyOptions, "data" | "database">;

/** The part of a store that the commands about keys use. Closing `keys` closes the store. */
interface OpenKeys {
  keys: KeyStore;
  overview(): Promise<Pick<Overview, "listSpent" | "use">>;
}

const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Adds a key and prints it. Rejects with UsageError for an invalid or used name, LocalError for an unusable store. */
export async function addKey(ctx: Context, name: string, options: KeyOptions): Promise<void> {
  if (!NAME.test(name)) {
    throw new UsageError(
      `invalid key name: ${name}`,
      "Use 1 to 64 letters, digits, dots, underscores and hyphens.",
    );
  }
  const tier = options.tier ?? "free";
  const limits = buildLimits(tier, options);
  return runWithKeyStore(ctx, options, true, async ({ keys }) => {
    const now = ctx.host.clock.now();
    const budgets = buildBudgets(options);
    const { apiKey, key } = createServiceKey({ name, tier, limits, budgets, now, validMs: options.expires });
    if (!(await keys.add(key))) {
      throw new UsageError(
        `the key name ${name} is in use`,
        `Revoke it first: research serve keys revoke ${name}`,
      );
    }
    try {
      await ctx.reporter.show({ ...describeKey(key), api_key: apiKey }, `${apiKey}\n`);
    } catch (error) {
      // The key was not shown and only its hash is stored, so it can never be used.
      await keys.revoke(name, ctx.host.clock.now());
      throw error;
    }
    await ctx.reporter.say(`This is the key of ${name}. It is not shown again.`);
  });
}

/** Changes the budgets of a key. Rejects with CodedError (exit 6) if no valid or expired key has the name. */
export async function setKeyBudgets(ctx: Context, name: string, options: SetOptions): Promise<void> {
  const budgets = buildBudgets(options);
  if (Object.keys(budgets).length === 0)
    throw new UsageError("no change was requested", "Pass --budget, --at-once or --dollars.");
  return runWithKeyStore(ctx, options, false, async ({ keys }) => {
    if (!(await keys.set(name, budgets))) throw createNoSuchKeyError(name);
    const key = (await keys.list()).find(
      (candidate) => candidate.name === name && candidate.revokedAt === undefined,
    );
    if (ctx.reporter.json && key) await ctx.reporter.writeResultJson(describeKey(key));
    await ctx.reporter.say(`Changed the key ${name}.`);
  });
}

/** Prints what was spent: `name\tcompleted\tfailed\tstopped\tdollars\ttokens in\ttokens out\tunsaid`, or a JSON array. */
export async function printSpending(ctx: Context, options: SpentOptions): Promise<void> {
  const { by = "key", since } = options;
  return runWithKeyStore(ctx, options, false, async ({ keys, overview }) => {
    const names = new Map((await keys.list()).map((key) => [key.id, key]));
    const all = (await (await overview()).listSpent(by, since)).map(({ name, ...row }) => {
      const key = names.get(name);
      return { ...row, name: by === "key" ? key?.name : name, revoked: key?.revokedAt !== undefined };
    });
    if (by === "key") all.sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
    if (all.length === 0) await ctx.reporter.say("no conversation ended in this time");
    const rows = all.map(({ name, revoked, ...row }) => ({
      ...{ [by]: name || null, ...(revoked && { revoked }) },
      ...{ completed: row.completed, failed: row.failed, stopped: row.stopped },
      ...{ dollars: row.dollars, with_dollars: row.withDollars },
      ...{ input_tokens: row.inputTokens, output_tokens: row.outputTokens, unreported: row.unreported },
    }));
    const text = formatTable([by.toUpperCase(), ...SPENT], all.map(formatSpentRow), ctx.host.stdout);
    await ctx.reporter.show(rows, text);
  });
}

/**
 * Prints all keys: `name\tstate\ttier\tcreates\tstops\tcreated_at\texpires_at\tbudget\tat_once\tdollars`, with `-` for
 * a missing value; or a JSON array, which also has what is used of each limit.
 */
export async function listKeys(ctx: Context, options: StoreChoice): Promise<void> {
  return runWithKeyStore(ctx, options, false, async ({ keys, overview }) => {
    const now = ctx.host.clock.now();
    const { isTTY } = ctx.host.stdout;
    const listed = await keys.list();
    const { uses } = ctx.reporter.json ? await (await overview()).use(listed) : { uses: [] };
    const all = listed.map((key, n) => ({
      ...describeKey(key),
      state: getKeyState(key, now),
      ...formatKeyUse(key, uses[n]),
    }));
    if (all.length === 0)
      await ctx.reporter.say("there are no keys; add one with `research serve keys add NAME`");
    const rows = all.map((key) => formatKeyRow(key, isTTY));
    await ctx.reporter.show(all, formatTable(KEYS, rows, ctx.host.stdout));
  });
}

/** Revokes a key. Rejects with CodedError (exit 6) if no valid or expired key has the name. */
export async function revokeKey(ctx: Context, name: string, options: StoreChoice): Promise<void> {
  return runWithKeyStore(ctx, options, false, async ({ keys }) => {
    if (!(await keys.revoke(name, ctx.host.clock.now()))) throw createNoSuchKeyError(name);
    if (ctx.reporter.json) await ctx.reporter.writeResultJson({ name, state: "revoked" });
    await ctx.reporter.say(`Revoked the key ${name}.`);
  });
}

function createNoSuchKeyError(name: string): CodedError {
  const hint = "`research serve keys list` shows all keys.";
  return new CodedError("NOT_ALLOWED", `there is no valid key named ${name}`, { hint });
}

/** Calls `use` with the keys of a service. `creates`: whether to create a missing data folder. Rejects with UsageError if none is named, or LocalError. */
async function runWithKeyStore(
  ctx: Context,
  options: StoreChoice,
  creates: boolean,
  use: (opened: OpenKeys) => Promise<void>,
): Promise<void> {
  const opened = await openKeyStore(ctx, options, creates);
  try {
    return await use(opened);
  } catch (error) {
    if (error instanceof StoreOutcomeUnknownError)
      throw new LocalError(
        `${error.message}; \`research serve keys list\` shows whether the keys were changed`,
      );
    if (error instanceof StoreError) throw new LocalError(error.message, { cause: error });
    throw error;
  } finally {
    await opened.keys.close();
  }
}

/** Returns the hourly limits of a tier: those of the flags for enterprise ("custom" in §8), fixed ones for the other tiers. */
function buildLimits(tier: Tier, { createsPerHour, stopsPerHour }: KeyOptions): HourlyLimit {
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

function buildBudgets({ budget, atOnce, dollars }: SetOptions): KeyBudgets {
  const toFinite = <T>(value: T, most: number) => (Number.isFinite(most) ? value : undefined);
  return {
    ...(budget && { budget: toFinite(budget, budget.most) }),
    ...(atOnce !== undefined && { atOnce: toFinite(atOnce, atOnce) }),
    ...(dollars && { dollars: toFinite(dollars, dollars.most) }),
  };
}

function formatRate(rate: Rate | undefined): string | null {
  return rate ? `${rate.most}/${formatExactDuration(rate.ms)}` : null;
}

function describeKey({ name, tier, limits, budgets = {}, createdAt, expiresAt, revokedAt }: ServiceKey) {
  return {
    name,
    tier,
    creates_per_hour: limits.create,
    stops_per_hour: limits.stop,
    budget: formatRate(budgets.budget),
    at_once: budgets.atOnce ?? null,
    dollars: formatRate(budgets.dollars),
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    revoked_at: revokedAt === undefined ? null : new Date(revokedAt).toISOString(),
  };
}

/** Returns what a key has used, for JSON; null for a limit that the key does not have. */
function formatKeyUse({ budgets = {} }: ServiceKey, use: KeyUse | undefined) {
  if (use === undefined) return {};
  const { created, spent, reserved, running, nextAt } = use;
  return {
    budget_used: budgets.budget ? created : null,
    dollars_used: budgets.dollars ? { said: spent, reserved } : null,
    running,
    next_at: nextAt === undefined ? null : new Date(nextAt).toISOString(),
  };
}

function getKeyState(key: ServiceKey, now: number): "valid" | "expired" | "revoked" {
  if (key.revokedAt !== undefined) return "revoked";
  return isKeyValid(key, now) ? "valid" : "expired";
}

const KEYS = [
  ...["NAME", "STATE", "TIER", "CREATES/H", "STOPS/H", "CREATED", "EXPIRES"],
  ...["BUDGET", "AT ONCE", "DOLLARS"],
];

/** Returns the cells of a key's row. On a terminal, times are shown as dates. */
function formatKeyRow(key: ReturnType<typeof describeKey> & { state: string }, isTTY: boolean): string[] {
  const { name, state, tier, creates_per_hour, stops_per_hour, budget, at_once, dollars } = key;
  const limits = [`${creates_per_hour}`, `${stops_per_hour}`];
  const times = [key.created_at, key.expires_at ?? "-"].map((at) => (isTTY ? at.slice(0, 10) : at));
  const budgets = [budget, at_once?.toString(), dollars && `$${dollars}`].map((limit) => limit ?? "-");
  return [name, state, tier, ...limits, ...times, ...budgets];
}

const SPENT = ["COMPLETED", "FAILED", "STOPPED", "DOLLARS", "TOKENS IN", "OUT", "UNREPORTED"];

function formatSpentRow({ name, ...row }: Omit<SpentSum, "name"> & { name: string | undefined }): string[] {
  const ended = [row.completed, row.failed, row.stopped];
  const used = [row.dollars.toFixed(2), row.inputTokens, row.outputTokens, row.unreported];
  return [name || "-", ...[...ended, ...used].map(String)];
}

async function openKeyStore(ctx: Context, options: StoreChoice, creates: boolean): Promise<OpenKeys> {
  const { clock } = ctx.host;
  const { data } = options;
  const url = readDatabaseUrl(ctx, options);
  try {
    if (url !== undefined) {
      const { openPostgresKeys } = await import("../../../server/postgres/open-postgres-store.js");
      const { keys, overview } = await openPostgresKeys(url, clock);
      return { keys, overview: async () => overview };
    }
    if (data === undefined) {
      throw new UsageError("no data folder or database was named", "Pass --data DIR or --database URL.");
    }
    if (creates) makePrivateFolder(data);
    else if (!existsSync(data)) throw new LocalError(`the data folder does not exist: ${data}`);
    if (!statSync(data).isDirectory()) throw new Error("it is not a folder");
    await checkDataFormat(data);
    return {
      keys: new KeyFile(data, clock),
      overview: () => readKeyUsage(data, clock),
    };
  } catch (error) {
    if (error instanceof UsageError || error instanceof LocalError) throw error;
    if (error instanceof ServiceStartError) throw new LocalError(error.message, { cause: error });
    throw new LocalError(`the data folder ${data} cannot be used: ${describeSystemError(error)}`, {
      cause: error,
    });
  }
}

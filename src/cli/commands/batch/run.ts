import { LocalError } from "../../../store/errors.js";
import { currentHour } from "../../../workflows/quota.js";
import { wordsOf } from "../../batch/again.js";
import { BatchFolder, peek } from "../../batch/folder.js";
import { forecast } from "../../batch/forecast.js";
import { type InputOptions, readBatch } from "../../batch/input/read.js";
import type { Fault } from "../../batch/input/records.js";
import type { Known } from "../../batch/journal.js";
import { Pacer } from "../../batch/pacer.js";
import { changedKeys, occupied, type PlanOptions, planRows } from "../../batch/plan.js";
import { reconcile } from "../../batch/reconcile.js";
import type { Row } from "../../batch/row.js";
import { type RunnerOptions, runBatch } from "../../batch/runner.js";
import { Shard } from "../../batch/shard.js";
import type { Context } from "../../context.js";
import { CliError, EXIT_CODES, UsageError } from "../../errors.js";
import { failureOf } from "../../failure.js";
import { hourlyLimit, type QuotaOptions } from "../../requests/quota.js";
import { resumeCommand } from "../../resume.js";
import { requireConnection } from "../../settings.js";
import { forecastJson, forecastText } from "./view.js";

export interface BatchOptions extends InputOptions, PlanOptions, QuotaOptions, RunnerOptions {
  out?: string;
  dryRun?: boolean;
  /** `2/8` */
  shard?: string;
}

/** Sends many prompts under an hourly limit, and keeps every result. The same command again goes on. */
export async function batch(ctx: Context, file: string, options: BatchOptions): Promise<number> {
  const shard = Shard.of(options.shard);
  checkShards(ctx, options, shard);
  const { out, dryRun } = options;
  const { rows, faults } = await readBatch(ctx, file, options);
  const before = out === undefined ? new Map<string, Known>() : peek(out);
  faults.push(...changedKeys(rows, before));
  if (out === undefined && !dryRun)
    faults.push({ reason: "--out DIR is missing: the folder for the results" });
  if (faults.length > 0) return refuse(ctx, file, faults);
  const mine = shard ? shard.rowsOf(rows) : rows;
  if (dryRun || out === undefined) return foretell(ctx, mine, before, options);
  // What is not configured is said before a folder is made.
  requireConnection(ctx.settings);
  const folder = await BatchFolder.open(out);
  try {
    const known = reconcile(ctx, folder.known);
    const states = planRows(mine, known, options);
    checkRoom(out, occupied(states, folder.foreign));
    await sayTwice(ctx, mine);
    const command = resumeCommand(ctx.flags, "batch", file, ...wordsOf(options));
    const again = file === "-" ? `${command} < INPUT` : command;
    return await runBatch(ctx, { states, folder, pacer: pacerFor(ctx, known, options), again }, options);
  } finally {
    folder.close();
  }
}

/** Throws UsageError where a shard's part would be less than one create an hour. */
function checkShards(ctx: Context, options: BatchOptions, shard: Shard | undefined): void {
  const limit = hourlyLimit(ctx, options);
  const count = shard?.count ?? 1;
  if (limit === undefined || limit >= count) return;
  throw new UsageError(
    `${count} shards of ${limit} creates an hour leave less than one for each`,
    `Use at most ${limit} shards.`,
  );
}

/** Names every fault on a line of its own; nothing was sent. */
async function refuse(ctx: Context, file: string, faults: readonly Fault[]): Promise<number> {
  for (const { line, reason } of [...faults].sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity))) {
    const place = line === undefined ? "" : `${file}:${line}: `;
    await ctx.reporter.error(failureOf(new UsageError(`${place}${reason}`)));
  }
  return EXIT_CODES.USAGE;
}

/** Throws LocalError where results would land on what somebody else put there. */
function checkRoom(out: string, [first, ...others]: readonly string[]): void {
  if (first === undefined) return;
  const more = others.length > 0 ? `, and ${others.length} more,` : "";
  throw new LocalError(`${out} holds ${first}${more} that this batch did not write; take another folder`);
}

/** Rows that ask the same and have no key are rows all the same; each costs a create. */
async function sayTwice(ctx: Context, rows: readonly Row[]): Promise<void> {
  const twice = rows.filter(({ key, id, digest }) => key === undefined && id !== `ask:${digest}`);
  const [first] = twice;
  if (!first) return;
  const which =
    twice.length === 1 ? `line ${first.line} asks` : `${twice.length} rows, line ${first.line} first, ask`;
  await ctx.reporter.notice("ASKED_TWICE", `${which} what an earlier line asks; each is sent`);
}

function pacerFor(ctx: Context, known: ReadonlyMap<string, Known>, options: BatchOptions): Pacer {
  const counted = [...known.values()].filter(({ stage }) => stage !== "free");
  const own = counted.map(({ sentAt }) => Date.parse(sentAt));
  const isConnected = connectedOrigin(ctx) !== undefined;
  return new Pacer({
    clock: ctx.host.clock,
    count: (limit) => (isConnected ? currentHour(ctx.ports, limit) : undefined),
    limit: hourlyLimit(ctx, options),
    shards: Shard.of(options.shard)?.count ?? 1,
    own,
  });
}

/** What would be done, and how long it would take. Needs no key, and leaves no trace. */
async function foretell(
  ctx: Context,
  rows: readonly Row[],
  before: ReadonlyMap<string, Known>,
  options: BatchOptions,
): Promise<number> {
  const known = reconcile(ctx, before);
  const states = planRows(rows, known, options);
  const plan = forecast(ctx, states, pacerFor(ctx, known, options), connectedOrigin(ctx));
  const { reporter } = ctx;
  if (reporter.json) await reporter.resultJson(forecastJson(plan));
  else await reporter.result(forecastText(plan));
  return 0;
}

/** Undefined where there is no base URL or no key to speak to a service with. */
function connectedOrigin(ctx: Context): string | undefined {
  try {
    return requireConnection(ctx.settings).origin;
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

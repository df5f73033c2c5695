import { basename } from "node:path";
import { openBatch, pacerOf, rowName, settledRows } from "../../../machine/batch.js";
import { CodedError, EXIT_CODES, UsageError } from "../../../machine/errors.js";
import { failureOf } from "../../../machine/failure.js";
import type { LimitOptions } from "../../../machine/machine.js";
import { requireConnection } from "../../../machine/settings.js";
import { estimate, usualLength } from "../../../workflows/batch/estimate.js";
import type { KnownRow } from "../../../workflows/batch/journal.js";
import { readKnownRows } from "../../../workflows/batch/output-folder.js";
import { BatchProgress, changedRows, type PlanOptions, planRows } from "../../../workflows/batch/plan.js";
import { isRepeated, type Row, rowsOfShard, type Shard } from "../../../workflows/batch/row.js";
import type { Ports } from "../../../workflows/ports.js";
import { type Context, resumeCommand, wordsOf } from "../../context.js";
import type { RowFault } from "./input/formats.js";
import { type InputOptions, readBatch } from "./input/read.js";
import { type ShowOptions, showBatch } from "./show.js";
import { estimateJson, estimateText, promptsText } from "./view.js";

export interface BatchFlags extends InputOptions, PlanOptions, LimitOptions, ShowOptions {
  out?: string;
  dryRun?: boolean;
  /** Whether to keep pages of the rows in the output folder. */
  html?: boolean;
  /** `2/8` */
  shard?: string;
}

/** Sends many prompts under an hourly limit, and keeps every result. The same command again goes on. */
export async function batch(ctx: Context, file: string, options: BatchFlags): Promise<number> {
  const { out, dryRun } = options;
  const shard = parseShard(options.shard);
  const limit = ctx.hourlyLimit(options);
  checkShards(limit, shard);
  const { rows, faults } = await readBatch(ctx, file, options);
  const before = out === undefined ? new Map<string, KnownRow>() : readKnownRows(out);
  faults.push(...changedRows(rows, before).map(changedFault));
  if (out === undefined && !dryRun)
    faults.push({ reason: "--out DIR is missing: the folder for the results" });
  if (faults.length > 0) return refuse(ctx, file, faults);
  const mine = shard ? rowsOfShard(rows, shard) : rows;
  if (dryRun || out === undefined) return dryRunOf(ctx, mine, before, options);
  const job = await openBatch(ctx.ports, mine, { ...options, out, limit, shards: shard?.count });
  const { folder, states } = job;
  try {
    const pages = options.html ? await import("./pages.js") : undefined;
    pages?.checkPages(folder, states);
    await sayRepeated(ctx, mine);
    try {
      return await showBatch(ctx, ctx.ports, job, options, resumeWith(ctx, file, options));
    } finally {
      const title = file === "-" ? basename(folder.path) : basename(file);
      pages?.writePages(folder, states, { title, origin: ctx.ports.origin, now: ctx.host.clock.now() });
    }
  } finally {
    folder.close();
  }
}

/** Throws UsageError for an invalid shard. */
function parseShard(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? [];
  if (index && count && index <= count) return { index, count };
  throw new UsageError(`invalid shard: ${JSON.stringify(text)}`, "Write K/N, from 1/N to N/N.");
}

/** Throws UsageError if a shard's part would be less than one create per hour. */
function checkShards(limit: number | undefined, shard: Shard | undefined): void {
  const count = shard?.count ?? 1;
  if (limit === undefined || limit >= count) return;
  throw new UsageError(
    `${count} shards of ${limit} creates per hour leave less than one for each`,
    `Use at most ${limit} shards.`,
  );
}

/** Names every fault on a line of its own; nothing was sent. */
async function refuse(ctx: Context, file: string, faults: readonly RowFault[]): Promise<number> {
  for (const { line, reason } of [...faults].sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity))) {
    const place = line === undefined ? "" : `${file}:${line}: `;
    await ctx.reporter.error(failureOf(new UsageError(`${place}${reason}`)));
  }
  return EXIT_CODES.USAGE;
}

function changedFault({ key, line }: Row): RowFault {
  const reason = `the prompt or schema of the key ${JSON.stringify(key)} has changed since it was sent`;
  return { line, reason: `${reason}; use another key, or another --out` };
}

/** Rows without a key that repeat an earlier one are still rows; each costs a create. */
async function sayRepeated(ctx: Context, rows: readonly Row[]): Promise<void> {
  const [first, ...others] = rows.filter(isRepeated);
  if (!first) return;
  const which =
    others.length === 0
      ? `line ${first.line} asks`
      : `${others.length + 1} rows, line ${first.line} first, ask`;
  await ctx.reporter.notice("ASKED_TWICE", `${which} what an earlier line asks; each is sent`);
}

/** The command that goes on with the same batch. */
function resumeWith(ctx: Context, file: string, options: BatchFlags): string {
  const command = resumeCommand(ctx.flags, "batch", file, ...wordsOf(options));
  return file === "-" ? `${command} < INPUT` : command;
}

/** Enough to see what a template makes of the columns. */
const SHOWN_PROMPTS = 3;

/** Says what would be done, how long it would take, and what is asked first. Needs no key, and changes nothing. */
async function dryRunOf(
  ctx: Context,
  rows: readonly Row[],
  before: ReadonlyMap<string, KnownRow>,
  options: BatchFlags,
): Promise<number> {
  const known = settledRows(before, ctx.history);
  const states = planRows(rows, known, options, () => true);
  const ports = connectedPorts(ctx);
  const usualMs = ports && usualLength(ports.history, ports.origin);
  const pace = { limit: ctx.hourlyLimit(options), shards: parseShard(options.shard)?.count };
  const pacer = pacerOf(ports ?? ctx.host, known, pace);
  const plan = estimate(new BatchProgress(states).counts, pacer, usualMs, ctx.host.clock.now());
  const { reporter } = ctx;
  const first = states
    .slice(0, SHOWN_PROMPTS)
    .map(({ row }) => ({ name: rowName(row), prompt: row.body.prompt }));
  await reporter.show({ ...estimateJson(plan), first }, `${estimateText(plan)}${promptsText(first)}`);
  return 0;
}

/** Undefined if the base URL or the key is missing. */
function connectedPorts(ctx: Context): Ports | undefined {
  try {
    requireConnection(ctx.settings);
    return ctx.ports;
  } catch (error) {
    if (error instanceof CodedError) return undefined;
    throw error;
  }
}

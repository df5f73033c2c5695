import { basename } from "node:path";
import { describeFailure } from "../../../app/describe-failure.js";
import { EXIT_CODES, UsageError } from "../../../app/errors.js";
import { createBatchPacer, describeRow, openBatch } from "../../../app/open-batch.js";
import type { ProfileAccount } from "../../../app/profile-account.js";
import { estimateCreateCost } from "../../../app/read-quota.js";
import { getApiKey } from "../../../client/workflows/account-fallback.js";
import { readKnownRows } from "../../../client/workflows/batch/batch-folder.js";
import { type KnownRow, mergeHistoryOutcomes } from "../../../client/workflows/batch/batch-journal.js";
import { type BatchRow, isRepeatedRow } from "../../../client/workflows/batch/batch-row.js";
import { estimateBatch, estimateRunDuration } from "../../../client/workflows/batch/estimate-batch.js";
import {
  BatchProgress,
  listChangedRows,
  type PlanOptions,
  planRows,
  type RowState,
} from "../../../client/workflows/batch/plan-rows.js";
import { escapeLine } from "../../../core/text/safe-text.js";
import { type Context, formatResumeCommand, listFlagArguments } from "../../command-context.js";
import { canPrompt, requireConfirmation } from "../../requests/request-prompts.js";
import { openModelForChecks } from "../../requests/result-checks.js";
import { getTerminalColumns } from "../../terminal/style.js";
import type { Given } from "../shared-flags.js";
import { buildEstimateJson, formatEstimate, formatPrompts } from "./format-batch.js";
import type { Format, RowFault } from "./input/parse-formats.js";
import { type InputOptions, readBatch } from "./input/read-batch-input.js";
import { type ShowOptions, showBatch } from "./show-batch.js";

type BatchFlags = InputOptions &
  Omit<PlanOptions, "retryRefused"> &
  ShowOptions &
  Given<"perDay" | "dryRun"> & { out?: string; yes?: boolean; html?: boolean };

/** Sends many prompts without exceeding the hourly limit, and stores every result. The same command resumes an interrupted batch. */
export async function batch(ctx: Context, file: string, options: BatchFlags): Promise<number> {
  const { out, dryRun } = options;
  ctx.limitDay(options);
  const { rows, faults, format, findAccount } = await readBatch(ctx, file, options);
  // If each row names its own account, the user need not have an account in use.
  const account = rows.every(({ profile }) => profile !== undefined) ? findAccount(rows[0]?.profile) : ctx;
  const limit = account.getHourlyLimit(options);
  const before = out === undefined ? new Map<string, KnownRow>() : readKnownRows(out);
  for (const { key, line } of listChangedRows(rows, before)) {
    const reason = `the request of the key ${JSON.stringify(key)} has changed since it was sent`;
    faults.push({ line, reason: `${reason}; use another key, or another --out` });
  }
  if (out === undefined && !dryRun)
    faults.push({ reason: "--out is missing: pass the folder for the results" });
  if (faults.length > 0) return reportInputFaults(ctx, file, faults);
  const planBatch = (): BatchPlan => {
    const knownRows = mergeHistoryOutcomes(before, account.history);
    return { known: knownRows, states: planRows(rows, knownRows, options, () => true), findAccount };
  };
  if (dryRun || out === undefined) return printDryRun(ctx, account, planBatch(), limit);
  if (!options.yes && canPrompt(ctx))
    await confirmRows(ctx, planBatch(), `${escapeLine(file)}, read as ${FORMS[format]},`);
  const checkModel = await openModelForChecks(ctx, options.check);
  const job = await openBatch(account, rows, { ...options, limit, out });
  const { folder, states } = job;
  try {
    const pages = options.html ? await import("./result-pages.js") : undefined;
    pages?.refuseForeignPages(folder, states);
    await warnOfRepeatedRows(ctx, rows);
    try {
      return await showBatch(ctx, job, { ...options, checkModel }, formatBatchResume(ctx, file, options));
    } finally {
      const title = file === "-" ? basename(folder.path) : basename(file);
      await pages?.writeBatchPages(job, title);
    }
  } finally {
    folder.close();
  }
}

/** The plan for each row, with a function that finds the account of a profile. */
interface BatchPlan {
  known: ReadonlyMap<string, KnownRow>;
  states: readonly RowState[];
  findAccount: (profile: string | undefined) => ProfileAccount;
}

/** Maximum number of rows that are sent without a confirmation, because any text file is a valid list of prompts. */
const MOST_UNASKED = 20;

const FORMS: Readonly<Record<Format, string>> = {
  ...{ txt: "text, one prompt a line", jsonl: "JSON Lines", csv: "CSV" },
};

/** Asks for confirmation before more than 20 rows are sent. Throws UsageError unless the answer is yes, CodedError for a missing key. */
async function confirmRows(ctx: Context, { states, findAccount }: BatchPlan, what: string): Promise<void> {
  const { waiting } = new BatchProgress(states).counts;
  if (waiting <= MOST_UNASKED) return;
  const accounts = new Set(states.map(({ row }) => findAccount(row.profile)));
  for (const account of accounts) void account.apiKey;
  const places = [...accounts].map(
    ({ origin, profile }) => `${origin}${profile === null ? "" : ` (profile ${profile})`}`,
  );
  await requireConfirmation(
    ctx,
    `Send ${waiting} rows of ${what} to ${places.join(" and ")}? Each row is a create request.`,
    "nothing was sent",
  );
}

/** Prints each fault on its own line. Returns the exit code; nothing was sent. */
async function reportInputFaults(ctx: Context, file: string, faults: readonly RowFault[]): Promise<number> {
  for (const { line, reason } of [...faults].sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity))) {
    const place = line === undefined ? "" : `${file}:${line}: `;
    await ctx.reporter.writeError(describeFailure(new UsageError(`${place}${reason}`)));
  }
  return EXIT_CODES.USAGE;
}

/** Warns about rows without a key that repeat an earlier row, because each of them is sent and paid for. */
async function warnOfRepeatedRows(ctx: Context, rows: readonly BatchRow[]): Promise<void> {
  const [first, ...others] = rows.filter(isRepeatedRow);
  if (!first) return;
  const which =
    others.length === 0
      ? `line ${first.line} repeats`
      : `${others.length + 1} rows, line ${first.line} first, repeat`;
  await ctx.reporter.writeNotice(
    "ASKED_TWICE",
    `${which} an earlier line; each of them is sent and paid for`,
  );
}

function formatBatchResume(ctx: Context, file: string, options: BatchFlags): string {
  const command = formatResumeCommand(ctx.flags, "batch", [file], listFlagArguments(options));
  return [file, ...(options.context ?? [])].includes("-") ? `${command} < INPUT` : command;
}

/** Number of prompts that a dry run shows: enough to check a template. If the models differ, it shows all rows. */
const SHOWN_PROMPTS = 3;

/** Prints what the batch would do, how long it would take, and its first prompts. Needs no key and changes nothing. */
async function printDryRun(
  ctx: Context,
  account: ProfileAccount,
  { known: knownRows, states, findAccount }: BatchPlan,
  limit: number | undefined,
): Promise<number> {
  const connected = getApiKey(account) === undefined ? undefined : account;
  const usualMs = connected && estimateRunDuration(connected);
  const pacer = createBatchPacer(ctx.host.clock, connected, knownRows, limit);
  const { counts } = new BatchProgress(states);
  const now = ctx.host.clock.now();
  const plan = { ...estimateBatch(counts, pacer, usualMs, now), counts, limit, now };
  const { reporter } = ctx;
  const rows = states.map(({ row }) => row);
  const describeAsked = ({ profile, body }: BatchRow) => {
    const account = findAccount(profile);
    return { account, model: body.model ?? account.provider?.defaultModel };
  };
  const isMixed = new Set(rows.map((row) => describeAsked(row).model)).size > 1;
  const first = rows.slice(0, isMixed ? rows.length : SHOWN_PROMPTS).map((row) => {
    const { model } = describeAsked(row);
    return { name: describeRow(row), prompt: row.body.prompt, ...(model !== undefined && { model }) };
  });
  const cost = estimateCreateCost(
    states.flatMap(({ row, standing }) => (standing === "waiting" ? [describeAsked(row)] : [])),
  );
  const { stdout } = ctx.host;
  const columns = stdout.isTTY ? getTerminalColumns(stdout) : undefined;
  await reporter.showFitted(
    { ...buildEstimateJson(plan), first },
    `${formatEstimate(plan)}${cost}${formatPrompts(first, columns)}`,
  );
  return 0;
}

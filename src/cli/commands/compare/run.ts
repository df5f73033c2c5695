import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../../app/errors.js";
import { openBatch } from "../../../app/open-batch.js";
import type { ProfileAccount } from "../../../app/profile-account.js";
import { addProviderOptions } from "../../../app/provider-options.js";
import { estimateCreateCost } from "../../../app/read-quota.js";
import { computeRowDigest } from "../../../client/store/history/equal-creates.js";
import type { BatchJob } from "../../../client/workflows/batch/batch-context.js";
import { readKnownRows } from "../../../client/workflows/batch/batch-folder.js";
import { type BatchRow, buildRowId } from "../../../client/workflows/batch/batch-row.js";
import { listFolder, readIfExists } from "../../../core/files/file-access.js";
import { hashSha256, LocalError, wrapFileErrors } from "../../../core/files/local-error.js";
import { escapeHtml } from "../../../core/markdown/html/render-blocks.js";
import { renderResultPage } from "../../../core/markdown/html/result-page.js";
import type { CreateBody } from "../../../core/protocol/conversation.js";
import { escapeLine } from "../../../core/text/safe-text.js";
import { formatIsoDate } from "../../../core/text/time-format.js";
import { type Context, formatResumeCommand, listFlagArguments } from "../../command-context.js";
import { chooseModels, refuseSameAccounts } from "../../input/accounts-to-try.js";
import { readRequestBody } from "../../input/read-request.js";
import { printDryRequests } from "../../requests/print-dry-run.js";
import { openModelForChecks } from "../../requests/result-checks.js";
import { showResult } from "../../results/show-result.js";
import { buildRowResultPage } from "../batch/row-result.js";
import { showBatch } from "../batch/show-batch.js";
import type { Given } from "../shared-flags.js";
import {
  buildCompareJson,
  buildResultNote,
  findFolderStatements,
  formatCompareIndex,
} from "./format-comparison.js";

type CompareFlags = Given<
  "request" | "context" | "domains" | "pace" | "perDay" | "notify" | "check" | "dryRun"
> & {
  output?: string;
  model: string[];
  html?: boolean;
};

/** Sends the prompt to each named account, and writes the reports and a table of them into a folder. */
export async function compare(
  ctx: Context,
  prompt: string | undefined,
  options: CompareFlags,
): Promise<number> {
  const { reporter, flags } = ctx;
  ctx.limitDay(options);
  const names = flags.profiles ?? [];
  if (names.length < 2) throw createNeedsTwoError(ctx, prompt, options);
  const body = await readRequestBody(ctx, prompt, options);
  const accounts = ctx.openNamed(names, "compare -p");
  const models = chooseModels(options.model, accounts);
  const findModel = (account: ProfileAccount) =>
    models.get(account) ?? account.settings.model?.value ?? account.provider?.defaultModel;
  refuseSameAccounts(accounts, findModel);
  const { domains, notDomains } = options;
  const asked = accounts.map((account) => ({
    account,
    body: addProviderOptions(account, body, { model: models.get(account), domains, notDomains }),
  }));
  for (const { account, body: request } of asked) (await account.dialect()).create(request);
  if (options.dryRun) {
    const cost = estimateCreateCost(accounts.map((account) => ({ account, model: findModel(account) })));
    if (cost) await reporter.say(cost.trimEnd());
    return printDryRequests(ctx, asked);
  }
  const rows = asked.map(({ body: request }, index) => buildCompareRow(names[index] ?? "", request, index));
  const question = hashSha256(JSON.stringify(rows.map(({ id, digest }) => [id, digest]).sort()));
  const dir = options.output ?? `research-compare-${question.slice(0, 8)}`;
  refuseForeignFolder(dir, question);
  const checkModel = await openModelForChecks(ctx, options.check);
  const [first] = accounts as [ProfileAccount];
  const job = await openBatch(first, rows, { out: dir, isListed: false, retryRefused: true });
  const { folder, states } = job;
  try {
    folder.mark(MARKER, question);
    const isOver = states.every(({ standing }) => standing !== "waiting" && standing !== "running");
    const profiles = names.flatMap((name) => ["-p", name]);
    const resume = formatCompareResume(ctx, body.prompt, [...profiles, "-o", dir], options);
    const code = await showBatch(ctx, job, { ...options, checkModel, beside: buildResultNote }, resume);
    const read = (file: string) => readIfExists(join(dir, file)) ?? "";
    const statements = await findFolderStatements(states, read);
    const index = formatCompareIndex(body.prompt, states, statements);
    folder.write("index.md", index);
    if (options.html) await writeComparePages(job, index);
    if (isOver) {
      const ends = states.flatMap(({ endedAt }) => (endedAt ? [Date.parse(endedAt)] : []));
      if (ends.length > 0)
        await reporter.writeNotice(
          "REUSED",
          `nothing was sent: these reports are from ${formatIsoDate(Math.max(...ends))}`,
        );
    }
    if (reporter.json) {
      await reporter.writeResultJson(buildCompareJson(body.prompt, dir, states, statements, read));
      return code;
    }
    await showResult(ctx, { data: {}, value: index, exact: {} }, {}, {});
    return code;
  } finally {
    folder.close();
  }
}

/** Creates the error for fewer than two accounts. Its hint is the same command with the stored accounts, or a command that stores one. */
function createNeedsTwoError(ctx: Context, prompt: string | undefined, options: CompareFlags): UsageError {
  const { flags } = ctx;
  const stored = ctx.accounts.map(({ settings }) => settings.profile.value);
  const words = [...stored.flatMap((name) => ["-p", name]), ...listFlagArguments(options)];
  const command = formatResumeCommand(flags, "compare", prompt === undefined ? [] : [prompt], words);
  const only = stored.length === 1 ? `; the only one so far is ${stored[0]}` : "";
  return new UsageError(
    "compare needs at least two accounts: -p PROFILE -p PROFILE",
    stored.length < 2
      ? `\`research login PROVIDER\` stores another account${only}.`
      : `With the stored accounts: ${command}`,
  );
}

/** The file beside the journal that has the digest of the accounts and of the request to each. */
const MARKER = "question";

/** Returns the command that resumes the comparison. It reads the prompt from stdin if the prompt does not fit on one line. */
function formatCompareResume(
  { flags }: Context,
  prompt: string,
  words: string[],
  { output: _, promptFile, ...others }: CompareFlags,
): string {
  const isFile = promptFile !== undefined && promptFile !== "-";
  const promptArguments = prompt === escapeLine(prompt) ? [prompt] : ["-"];
  const rest = listFlagArguments(isFile ? { promptFile, ...others } : others);
  const command = formatResumeCommand(flags, "compare", isFile ? [] : promptArguments, [...words, ...rest]);
  if (!isFile && promptArguments[0] !== prompt) return `${command} < PROMPT`;
  return others.context.includes("-") ? `${command} < CONTEXT` : command;
}

function buildCompareRow(profile: string, body: CreateBody, index: number): BatchRow {
  const digest = computeRowDigest(body, profile);
  return {
    id: buildRowId(`account ${profile}`, digest, 1),
    key: profile,
    line: index + 1,
    profile,
    body,
    digest,
  };
}

/** Throws LocalError if a folder contains anything that does not belong to this comparison. */
function refuseForeignFolder(dir: string, question: string): void {
  wrapFileErrors(`the folder ${dir} cannot be used`, () => {
    if (!existsSync(dir)) return;
    const knownRows = [...readKnownRows(dir).values()];
    const ownStems = new Set(["index", ...knownRows.map(({ stem }) => stem)]);
    const foreign = listFolder(dir).find(
      (name) => name !== ".research-batch" && !ownStems.has(name.replace(/\.(?:md|json|html)$/, "")),
    );
    if (foreign !== undefined)
      throw new LocalError(
        `${dir} contains ${foreign}, which does not belong to this comparison; use another folder`,
      );
    const before = readIfExists(join(dir, ".research-batch", MARKER));
    const isNew = before === undefined && knownRows.length === 0 && !existsSync(join(dir, "index.md"));
    if (!isNew && before !== question)
      throw new LocalError(`${dir} contains another question or other accounts; use another folder`);
  });
}

async function writeComparePages(job: BatchJob, index: string): Promise<void> {
  const { folder, states } = job;
  for (const state of states) {
    if (state.file !== undefined) folder.write(`${state.stem}.html`, await buildRowResultPage(job, state));
  }
  // The renderer links only to web addresses, but these are files beside the page.
  const [question] = states.map(({ row }) => row.body.prompt);
  const page = renderResultPage({ kind: "markdown", text: index }, { question });
  const linked = states.reduce((html, { row, stem, file }) => {
    const name = escapeHtml(row.profile ?? "");
    const href = escapeHtml(`${encodeURIComponent(stem)}.html`);
    const shown = `${name} (${escapeHtml(encodeURIComponent(file ?? ""))})`;
    return html.replace(shown, () => `<a href="${href}">${name}</a>`);
  }, page);
  folder.write("index.html", linked);
}

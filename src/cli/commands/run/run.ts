import type { CitationJudge } from "../../../app/citation-judge.js";
import { getCheckExitCode } from "../../../app/errors.js";
import type { Account } from "../../../client/workflows/account.js";
import type { AccountRequest } from "../../../client/workflows/account-fallback.js";
import { explainNoResult, fetchResult } from "../../../client/workflows/fetch-results.js";
import type { Target } from "../../../client/workflows/find-and-query-requests.js";
import type { WatchOutcome } from "../../../client/workflows/follow-requests.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { type Context, formatResumeCommandAt, listFlagArguments } from "../../command-context.js";
import { UnfinishedError, wrapInterrupted, wrapOutputError } from "../../errors.js";
import { openAccountsToTry } from "../../input/accounts-to-try.js";
import { readRequestBody } from "../../input/read-request.js";
import { formatNotification } from "../../requests/format-progress.js";
import { printDryRequests } from "../../requests/print-dry-run.js";
import { openModelForChecks, ResultChecks } from "../../requests/result-checks.js";
import { getOutcomeExitCode, showFollow } from "../../requests/show-follow.js";
import { buildCreatedTarget, reportCreatesLeft, showSubmit } from "../../requests/show-submit.js";
import {
  checkResultOptions,
  checkSchemaFit,
  listResultArguments,
  showResult,
  warnOfPartialResult,
} from "../../results/show-result.js";
import { Interrupted } from "../../terminal/interruption.js";
import { notifyOfEnd } from "../../terminal/notification.js";
import type { Terminal } from "../../terminal/reporter.js";
import type { Given } from "../shared-flags.js";

type ViewFlags = Given<"pace" | "result" | "partial" | "once" | "waitForQuota" | "notify" | "check">;
type RunFlags = ViewFlags &
  Given<"dryRun" | "request" | "context" | "provider" | "domains" | "quota" | "perDay" | "or">;

export async function run(ctx: Context, prompt: string | undefined, options: RunFlags): Promise<number> {
  // Check everything that could fail at the end before the request costs anything.
  checkResultOptions(options, ctx.reporter.json);
  ctx.limitDay(options);
  const checkModel = await openModelForChecks(ctx, options.check && !options.dryRun);
  const requests = await openAccountsToTry(ctx, await readRequestBody(ctx, prompt, options), options);
  if (options.dryRun) return printDryRequests(ctx, requests);
  const { partial } = options;
  const words = [
    ...listResultArguments(options),
    ...listFlagArguments({ partial }),
    ...listSchemaArguments(ctx, options),
  ];
  return showRun(ctx, requests, { ...options, checkModel }, (id, account) =>
    formatResumeCommandAt(ctx, account, "output -w", id, words),
  );
}

/** Lists the schema's flag for the command that resumes, which needs it without a history. A schema from stdin cannot be read again. */
function listSchemaArguments(ctx: Context, { schema }: RunFlags): string[] {
  return schema === undefined || schema === "-" || ctx.history ? [] : ["--schema", schema];
}

/** Submits the prompt, follows the request and delivers the result. `resume` returns the command that fetches the result later; it is undefined if no command can. */
export async function showRun(
  terminal: Terminal,
  requests: readonly AccountRequest[],
  options: ViewFlags & { checkModel?: CitationJudge | undefined },
  resume: ((requestId: string, account: Account) => string) | undefined,
): Promise<number> {
  const { reporter, signal } = terminal;
  const created = await showSubmit(terminal, requests, options);
  const { request, requestId, submitted, reused } = created;
  const { account, body } = request;
  const goOn = resume?.(requestId, account);
  if (resume && submitted) {
    await reporter.say(`created ${requestId}`);
    await reportCreatesLeft(reporter, request);
  }
  if (signal.aborted) throw wrapInterrupted(signal, requestId, goOn);
  const end = options.timeout ? account.clock.monotonic() + options.timeout : undefined;
  const target = buildCreatedTarget(created);
  const settings = {
    ...{ print: false, question: body.prompt, answered: true, created: true },
    resume: resume && (() => goOn ?? ""),
  };
  const [outcome] = await showFollow(terminal, [target], { ...options, ...settings });
  const checks = options.check ? new ResultChecks(terminal, options.checkModel) : undefined;
  let ofCheck = 0;
  try {
    const isPart = options.partial && outcome?.status === "FAILED";
    if (!outcome || (getOutcomeExitCode(outcome, { created: true }) !== 0 && !isPart))
      return await endWithoutResult(target, outcome, { signal, end });
    const result = await fetchResult(target, {
      ...{ signal, end, partial: options.partial },
      schema: body.output_schema,
    });
    await warnOfPartialResult(reporter, result.data, requestId);
    const createdAt = reused?.created_at ?? submitted?.data.created_at;
    const source = { requestId, origin: account.origin, question: body.prompt, createdAt };
    await showResult(terminal, result, source, options);
    const checked = await checks?.check(target, result);
    if (checked) ofCheck = getCheckExitCode(checked);
    await checkSchemaFit(terminal, result, { requestId, schema: body.output_schema }, options);
  } catch (error) {
    if (error instanceof Interrupted) throw wrapInterrupted(signal, requestId, goOn);
    const named = goOn === undefined ? error : wrapOutputError(error, requestId, goOn);
    throw UnfinishedError.wrapUnlessEnded(named, requestId, goOn);
  } finally {
    await checks?.close();
    if (options.notify)
      await notifyOfEnd(terminal, formatNotification([outcome ?? { requestId, status: null }]));
  }
  if (submitted?.notSaved) throw submitted.notSaved;
  return ofCheck;
}

/** Throws the reason if a request ended without a result. Otherwise returns the exit code of the watch, which has printed the reason. */
export async function endWithoutResult(
  target: Target,
  outcome: WatchOutcome | undefined,
  { created = true, ...limits }: { signal: AbortSignal; end: number | undefined; created?: boolean },
): Promise<number> {
  if (!outcome) return 0;
  const { status } = outcome;
  if (status !== null && isFinal(status) && status !== "COMPLETED")
    throw await explainNoResult(target, status, limits);
  return getOutcomeExitCode(outcome, { created });
}

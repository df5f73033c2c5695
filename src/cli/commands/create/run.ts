import { CodedError } from "../../../app/errors.js";
import type { ProfileAccount } from "../../../app/profile-account.js";
import { DEFAULT_PROFILE } from "../../../app/resolve-settings.js";
import type { AccountRequest } from "../../../client/workflows/account-fallback.js";
import { LocalError } from "../../../core/files/local-error.js";
import { addFirstMember } from "../../../core/json/exact-json.js";
import type { Data } from "../../../core/protocol/conversation.js";
import { type Context, formatResumeCommandAt } from "../../command-context.js";
import { wrapInterrupted } from "../../errors.js";
import { openAccountsToTry } from "../../input/accounts-to-try.js";
import { readRequestBody } from "../../input/read-request.js";
import { pickWorstExit } from "../../requests/exit-codes.js";
import { printDryRequests } from "../../requests/print-dry-run.js";
import { getOutcomeExitCode, showFollow } from "../../requests/show-follow.js";
import { buildCreatedTarget, reportCreatesLeft, showSubmit } from "../../requests/show-submit.js";
import type { Reporter } from "../../terminal/reporter.js";
import type { Given } from "../shared-flags.js";

export type RerunFlags = Given<
  "dryRun" | "context" | "pace" | "provider" | "quota" | "perDay" | "waitForQuota"
> & {
  watch?: boolean;
};
type CreateFlags = RerunFlags & Given<"request" | "or" | "once" | "domains">;

/** Submits a prompt, and prints the id as soon as the id is on disk. */
export async function create(
  ctx: Context,
  prompt: string | undefined,
  options: CreateFlags,
): Promise<number> {
  ctx.limitDay(options);
  const body = await readRequestBody(ctx, prompt, options);
  return submitAndPrint(ctx, await openAccountsToTry(ctx, body, options), options);
}

export async function submitAndPrint(
  ctx: Context,
  requests: readonly AccountRequest<ProfileAccount>[],
  options: RerunFlags & Given<"once">,
): Promise<number> {
  if (options.dryRun) return printDryRequests(ctx, requests);
  const { reporter, signal } = ctx;
  const created = await showSubmit(ctx, requests, options);
  const { request, requestId, submitted, reused } = created;
  const { account } = request;
  const made = submitted?.data ?? {};
  const named =
    requests.length > 1 ? addFirstMember(made, "profile", account.profile ?? DEFAULT_PROFILE) : made;
  const data: Data = reused ? { ...reused, reused: true } : named;
  await printRequestId(reporter, requestId, data);
  if (submitted) await reportCreatesLeft(reporter, request);
  if (submitted?.notSaved) throw submitted.notSaved;
  const resume = () => formatResumeCommandAt(ctx, account, "watch", requestId);
  if (!options.watch) {
    if (signal.aborted) throw wrapInterrupted(signal, requestId, resume());
    return 0;
  }
  const target = buildCreatedTarget(created);
  const view = { ...options, print: true, answered: true, created: true, resume };
  const outcomes = await showFollow(ctx, [target], view);
  return pickWorstExit(outcomes.map((outcome) => getOutcomeExitCode(outcome, { created: true })));
}

/** Prints the id. If that fails, throws CodedError `LOCAL_IO` with the id. */
async function printRequestId(reporter: Reporter, requestId: string, data: Data): Promise<void> {
  try {
    await reporter.show(data, `${requestId}\n`);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new CodedError("LOCAL_IO", `${requestId} was created, but ${error.message}`, { requestId });
  }
}

import { CodedError } from "../../../app/errors.js";
import type { ProfileAccount } from "../../../app/profile-account.js";
import { DEFAULT_PROFILE } from "../../../app/resolve-settings.js";
import { INTERFACE, PROVIDERS } from "../../../client/dialects/providers.js";
import {
  getServiceAddress,
  type HistoryEntry,
  pickProviderFields,
  UNKNOWN,
} from "../../../client/store/history/history-records.js";
import type { AccountRequest } from "../../../client/workflows/account-fallback.js";
import { UnresolvedCreateError } from "../../../client/workflows/errors.js";
import { requireEntry } from "../../../client/workflows/find-and-query-requests.js";
import { LocalError } from "../../../core/files/local-error.js";
import { addFirstMember } from "../../../core/json/exact-json.js";
import { buildRequestBody, type Data } from "../../../core/protocol/conversation.js";
import { type Context, formatResumeCommandAt } from "../../command-context.js";
import { wrapInterrupted } from "../../errors.js";
import {
  chooseContextFiles,
  completeRequestBody,
  openRequestAccounts,
  printDryRequests,
  readRequestBody,
} from "../../input/read-request.js";
import { pickWorstExit } from "../../requests/exit-codes.js";
import { getOutcomeExitCode, showFollow } from "../../requests/show-follow.js";
import { buildCreatedTarget, reportCreatesLeft, showSubmit } from "../../requests/show-submit.js";
import type { Reporter } from "../../terminal/reporter.js";
import type { Given } from "../shared-flags.js";

type RerunFlags = Given<"dryRun" | "context" | "pace" | "provider" | "quota" | "perDay" | "waitForQuota"> & {
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
  return submitAndPrint(ctx, await openRequestAccounts(ctx, body, options), options);
}

/** Submits the prompt and the schema of an earlier request again. An unknown outcome must be settled first. */
export async function rerun(ctx: Context, id: string, options: RerunFlags): Promise<number> {
  ctx.limitDay(options);
  const entry = requireEntry(ctx, id);
  const { prompt, output_schema, structured_output } = entry;
  // Without an account in use, a dry run can still show the request to the account that created the earlier one.
  const account = options.dryRun && !ctx.settings.baseUrl ? openAccountOfEntry(ctx, entry) : ctx;
  // A provider's model is not valid at another service.
  const providerFields = entry.origin === account.origin ? pickProviderFields(entry) : {};
  const context = await chooseContextFiles(ctx, options.context, entry);
  const old = {
    ...buildRequestBody(prompt, output_schema ?? undefined, structured_output),
    ...providerFields,
    ...context,
  };
  const body = await completeRequestBody(account, old, options);
  if (entry.status === UNKNOWN && !options.dryRun) throw UnresolvedCreateError.of(entry);
  const describe = ({ profile, origin }: Pick<ProfileAccount, "profile" | "origin">) =>
    profile === null ? origin : `${origin} (profile ${profile})`;
  if (!options.dryRun && describe(entry) !== describe(account))
    await ctx.reporter.writeNotice(
      "OTHER_ACCOUNT",
      `${id} was created at ${describe(entry)}; the new request goes to ${describe(account)}`,
    );
  return submitAndPrint(account, [{ account, body, limit: account.getHourlyLimit(options) }], options);
}

/** Opens the account that created an entry, by profile or else by origin. Only a profile knows a provider at another address. */
function openAccountOfEntry(ctx: Context, entry: HistoryEntry): Context {
  const { profile } = entry;
  if (profile && Object.hasOwn(ctx.store.read().profiles, profile)) {
    const account = ctx.createWith(ctx.host.env, { ...ctx.flags, profile });
    if (account.settings.baseUrl && account.isHere(entry)) return account;
  }
  const provider = PROVIDERS.find(({ baseUrl }) => baseUrl === entry.origin)?.name ?? INTERFACE;
  const site = { RESEARCH_BASE_URL: getServiceAddress(entry), RESEARCH_PROVIDER: provider };
  return ctx.createWith({ ...ctx.host.env, ...site }, { ...ctx.flags, insecureHttp: true });
}

async function submitAndPrint(
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

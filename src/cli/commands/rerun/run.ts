import type { ProfileAccount } from "../../../app/profile-account.js";
import { INTERFACE, PROVIDERS } from "../../../client/dialects/providers.js";
import {
  getServiceAddress,
  type HistoryEntry,
  pickProviderFields,
  UNKNOWN,
} from "../../../client/store/history/history-records.js";
import { UnresolvedCreateError } from "../../../client/workflows/errors.js";
import { requireEntry } from "../../../client/workflows/find-and-query-requests.js";
import { buildRequestBody } from "../../../core/protocol/conversation.js";
import type { Context } from "../../command-context.js";
import { chooseContextFiles, completeRequestBody } from "../../input/read-request.js";
import { type RerunFlags, submitAndPrint } from "../create/run.js";

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

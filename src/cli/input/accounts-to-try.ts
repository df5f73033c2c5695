import { refuseFlagsBeside, UsageError } from "../../app/errors.js";
import type { LimitOptions, ProfileAccount } from "../../app/profile-account.js";
import { addProviderOptions } from "../../app/provider-options.js";
import { type AccountRequest, getApiKey } from "../../client/workflows/account-fallback.js";
import type { CreateBody } from "../../core/protocol/conversation.js";
import type { Context } from "../command-context.js";
import type { Given } from "../commands/shared-flags.js";
import { completeRequestBody } from "./read-request.js";

export const OWN_SETTINGS = "Each profile has its own settings.";

/** Lists the accounts to try for a create call, in order, each with its own body. Throws UsageError. */
export async function openAccountsToTry(
  ctx: Context,
  body: CreateBody,
  options: Given<"provider" | "or" | "domains" | "quota" | "dryRun" | "waitForQuota">,
): Promise<AccountRequest<ProfileAccount>[]> {
  const { or, model = [], set = [], after, domains, notDomains, window, waitForQuota, dryRun } = options;
  const limitOf = (account: ProfileAccount, given: LimitOptions) =>
    dryRun ? undefined : account.getHourlyLimit(given);
  if (or.length === 0)
    return [
      { account: ctx, body: await completeRequestBody(ctx, body, options), limit: limitOf(ctx, options) },
    ];
  refuseFlagsBeside("--or", { set: set[0], after, waitForQuota }, OWN_SETTINGS);
  const accounts = [ctx, ...ctx.openNamed(or, "--or")];
  refuseSameAccounts(accounts);
  const models = chooseModels(model, accounts);
  const requests = accounts.map((account, index) => ({
    account,
    body: addProviderOptions(account, body, { model: models.get(account), domains, notDomains, window }),
    limit: limitOf(account, index === 0 ? options : {}),
  }));
  for (const { account, body } of requests) (await account.dialect()).create(body);
  return requests;
}

/** Throws UsageError if a profile is named twice, or if two have the same origin, key and, with `modelOf`, model. */
export function refuseSameAccounts(
  accounts: readonly ProfileAccount[],
  modelOf?: (account: ProfileAccount) => unknown,
): void {
  const names = new Map<string, string>();
  for (const account of accounts) {
    const { origin, settings } = account;
    const { value: profile } = settings.profile;
    const key = getApiKey(account);
    const isOne = key === undefined ? [] : [JSON.stringify([origin, key, modelOf?.(account)])];
    for (const name of [`profile ${profile}`, ...isOne]) {
      const other = names.get(name);
      if (other === profile) throw new UsageError(`the profile ${profile} was given twice`);
      if (other !== undefined)
        throw new UsageError(
          `the profiles ${other} and ${profile} have the same key at ${origin}${modelOf ? " and the same model" : ""}`,
          modelOf && "Give one of them another model with --model PROFILE=NAME.",
        );
      names.set(name, profile);
    }
  }
}

/** Reads the model of each account from texts `PROFILE=NAME`. Throws UsageError. */
export function chooseModels(
  texts: readonly string[],
  accounts: readonly ProfileAccount[],
): Map<ProfileAccount, string> {
  const models = new Map<ProfileAccount, string>();
  for (const text of texts) {
    const account = accounts.find(({ settings }) => text.startsWith(`${settings.profile.value}=`));
    if (!account)
      throw new UsageError(
        `invalid value for --model: ${JSON.stringify(text)} does not name one of the accounts`,
        "With several accounts pass --model PROFILE=NAME for each.",
      );
    models.set(account, text.slice(account.settings.profile.value.length + 1));
  }
  return models;
}

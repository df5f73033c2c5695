import { refuseFlagsBeside, UsageError } from "../../app/errors.js";
import type { LimitOptions, ProfileAccount } from "../../app/profile-account.js";
import { addProviderOptions, requireValidSchema } from "../../app/provider-options.js";
import { checkTextSize, readText } from "../../app/read-text.js";
import { requireBaseUrl } from "../../app/resolve-settings.js";
import { addProviderDefaults, buildRequestBelow } from "../../client/dialects/providers.js";
import type { HistoryEntry } from "../../client/store/history/history-records.js";
import { type AccountRequest, getApiKey } from "../../client/workflows/account-fallback.js";
import { findFollowUpId } from "../../client/workflows/find-and-query-requests.js";
import { parseExact, tryParseJson } from "../../core/json/exact-json.js";
import {
  buildRequestBody,
  type CreateBody,
  insertContextFiles,
  type JsonSchema,
} from "../../core/protocol/conversation.js";
import { quoteShellWord } from "../../core/text/format-text.js";
import { stringifySafe } from "../../core/text/safe-text.js";
import type { Context } from "../command-context.js";
import type { Given } from "../commands/shared-flags.js";
import { describeContext } from "../requests/show-states.js";
import type { Host } from "../terminal/host.js";
import type { Terminal } from "../terminal/reporter.js";
import { parseJson } from "./parse-json.js";

/** Builds and validates the body of a create call from the command line. Throws UsageError or LocalError. */
export async function readRequestBody(
  ctx: Context,
  prompt: string | undefined,
  options: Given<"request"> & Partial<Given<"context">>,
): Promise<CreateBody> {
  const { host, signal } = ctx;
  const text = await readPrompt(prompt, options, host.stdin, signal);
  const schema = await readSchema(options.schema, host.stdin, signal);
  const context = await chooseContextFiles(ctx, options.context);
  return { ...buildRequestBody(text, schema, options.structured ?? false), ...context };
}

/** Reads the files of `--context`, or else those of the `old` request, and prints their names. Throws UsageError or LocalError. */
export async function chooseContextFiles(ctx: Context, paths: readonly string[] = [], old?: HistoryEntry) {
  checkStdinUse(...paths);
  const sources = paths.map((path) => (path === "-" ? ctx.host.stdin.stream : path));
  const { extractContextFiles } = paths.length > 0 ? await import("../../app/context-files.js") : {};
  const context =
    (await extractContextFiles?.(sources, ctx.clock, ctx.signal)) ?? (old && ctx.history?.findContext(old));
  if (context) await ctx.reporter.writeNotice("CONTEXT", `before each question: ${describeContext(context)}`);
  return context && { context };
}

/** Throws UsageError if more than one of the inputs is stdin (`-`). */
export function checkStdinUse(...sources: readonly (string | undefined)[]): void {
  if (sources.filter((source) => source === "-").length > 1)
    throw new UsageError(
      "only one of prompt, schema and context can come from stdin",
      "Pass the others as files.",
    );
}

/** Adds the provider's flags and settings to the body of a create call. Throws UsageError. */
export async function completeRequestBody(
  ctx: Context,
  body: CreateBody,
  { model, after, dryRun, ...options }: Partial<Given<"provider">> & Given<"domains" | "dryRun">,
): Promise<CreateBody> {
  const asked = addProviderOptions(ctx, body, { ...options, model: model?.at(-1), after });
  if (asked.options?.store === false && ctx.provider?.name === "openai")
    await ctx.reporter.writeNotice(
      "NOT_STORED",
      "with store=false, OpenAI deletes the result of a request about ten minutes after it ends; run, watch and batch save it on this machine as soon as it arrives",
    );
  if (after === undefined) return asked;
  return { ...asked, after: await findFollowUpId(ctx, after, { signal: ctx.signal, isOffline: dryRun }) };
}

export const OWN_SETTINGS = "Each profile has its own settings.";

/** Lists the accounts to try for a create call, in order, each with its own body. Throws UsageError. */
export async function openRequestAccounts(
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

export async function printDryRequests(
  { reporter }: Pick<Terminal, "reporter">,
  requests: readonly AccountRequest<ProfileAccount>[],
): Promise<number> {
  const shown: { json: object; text: string }[] = [];
  for (const { account, body } of requests) shown.push(await formatDryRequest(account, body));
  const named = shown.map(({ json }, index) => ({ profile: requests[index]?.account.profile, ...json }));
  await reporter.show(
    requests.length === 1 ? shown[0]?.json : named,
    shown.map(({ text }) => text).join("\n"),
  );
  return 0;
}

/** Builds the text of `--dry-run`. The curl command works for every prompt, because a quoted here-document expands nothing. */
async function formatDryRequest(account: ProfileAccount, body: CreateBody) {
  const { provider, settings } = account;
  const base = requireBaseUrl(settings);
  const dialect = await account.dialect();
  const request = dialect.create(insertContextFiles(addProviderDefaults(provider, body)));
  const {
    method,
    path,
    headers: ownHeaders,
    body: text = "",
  } = buildRequestBelow(base, dialect.name, request);
  const url = base.origin + path;
  const isOther = provider?.otherKeyVariable === settings.apiKey?.source;
  const ownVariable = (isOther && provider?.otherKeyVariable) || provider?.keyVariable;
  const variable = provider?.baseUrl === base.origin ? ownVariable : "RESEARCH_API_KEY";
  const [name, prefix] = dialect.keyHeader;
  const all = { [name]: `${prefix}$${variable}`, "content-type": "application/json", ...ownHeaders };
  const capitalizeHeader = (header: string) => header.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [capitalizeHeader(name), value]),
  );
  const json = parseExact(text);
  const flags = Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`);
  const words = ["curl -sS --globoff", `-X ${method}`, quoteShellWord(url), ...flags, "--data-binary @-"];
  const shown = `${words.join(" ")} <<'RESEARCH_REQUEST'\n${stringifySafe(json)}\nRESEARCH_REQUEST\n`;
  return { json: { method, url, headers, body: json }, text: shown };
}

const HOW = 'Pass the prompt as one argument ("…"), on stdin, or with --prompt-file PATH.';

/** Reads the prompt from an argument, stdin or a file. Throws UsageError unless there is exactly one and it is not blank, LocalError for an unreadable file. */
export async function readPrompt(
  argument: string | undefined,
  { promptFile, schema, context = [] }: Given<"request"> & Partial<Given<"context">>,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<string> {
  const stdinTaken = schema === "-" || context.includes("-");
  if (argument !== undefined && promptFile !== undefined)
    throw new UsageError("two prompts: one as an argument and one in --prompt-file", "Give one of them.");
  const fromStdin = argument === "-" || promptFile === "-";
  checkStdinUse(argument, promptFile, schema, ...context);
  if (promptFile !== undefined && !fromStdin)
    return requireNotBlank(await readText(promptFile, "the prompt file", signal));
  if (argument !== undefined && !fromStdin) return requireNotBlank(checkTextSize(argument, "the prompt"));
  if (stdinTaken || (!fromStdin && stdin.isTTY)) throw new UsageError("no prompt was given", HOW);
  return requireNotBlank(await readText(stdin.stream, "the prompt", signal));
}

function requireNotBlank(prompt: string): string {
  if (prompt.trim() === "") throw new UsageError("the prompt is blank", HOW);
  return prompt;
}

/** Reads and validates a schema: JSON text, a path, or `-` for stdin. Throws UsageError with the place of a mistake, or LocalError. */
export async function readSchema(
  source: string | undefined,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<JsonSchema | undefined> {
  if (source === undefined) return undefined;
  const inline = tryParseJson(source) !== undefined || /^\s*[[{]/.test(source);
  const what = inline ? "the schema" : source === "-" ? "the schema on stdin" : `the schema in ${source}`;
  const text = inline
    ? checkTextSize(source, "the schema")
    : await readText(source === "-" ? stdin.stream : source, "the schema", signal);
  return requireValidSchema(await parseJson(text, what), what, signal);
}

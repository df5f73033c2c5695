import { refuseFlagsBeside, UsageError } from "../../../../app/errors.js";
import { openNamedAccounts } from "../../../../app/open-batch.js";
import type { ProfileAccount } from "../../../../app/profile-account.js";
import { addProviderOptions } from "../../../../app/provider-options.js";
import { readText } from "../../../../app/read-text.js";
import type { CreateBody, JsonSchema } from "../../../../core/protocol/conversation.js";
import type { Context } from "../../../command-context.js";
import { chooseModels, OWN_SETTINGS } from "../../../input/accounts-to-try.js";
import {
  checkStdinUse,
  chooseContextFiles,
  completeRequestBody,
  readSchema,
} from "../../../input/read-request.js";
import type { Terminal } from "../../../terminal/reporter.js";
import type { Given } from "../../shared-flags.js";
import { buildRows, getSchemaText, PromptTemplate, parseSchemaText, readRowProfile } from "./build-rows.js";
import {
  detectFormat,
  type Format,
  type ParsedInput,
  parseCsv,
  parseJsonLines,
  parsePromptLines,
  type RowFault,
} from "./parse-formats.js";

export type InputOptions = Omit<Given<"request">, "promptFile"> &
  Partial<Given<"provider" | "context">> &
  Given<"domains" | "quota"> & { template?: string };

/**
 * Maximum size of an input: a hundred thousand long prompts. It is limited because the whole input is in
 * memory, so that everything can be checked before anything is sent.
 */
const MAX_BATCH_BYTES = 256 << 20;

/** Reads the input of a batch (a path or `-`) and collects everything that is wrong with it. Rejects with LocalError for an unreadable file. */
export async function readBatch(
  terminal: Context,
  path: string,
  options: InputOptions & { dryRun?: boolean },
) {
  const { stdin } = terminal.host;
  checkStdinUse(path, options.schema, ...(options.context ?? []));
  const context = await chooseContextFiles(terminal, options.context);
  const source = path === "-" ? stdin.stream : path;
  const text = await readText(source, "the batch", terminal.signal, MAX_BATCH_BYTES);
  const faults: RowFault[] = [];
  const schema = await readSharedSchema(terminal, options.schema, faults);
  const template = options.template === undefined ? undefined : new PromptTemplate(options.template);
  const format = detectFormat(path, text, template !== undefined);
  const parsed = PARSERS[format](text);
  const problems = await checkRowSchemas(parsed, terminal.signal);
  const structured = options.structured ?? false;
  const profiles = parsed.records.map(({ fields }) => readRowProfile(fields, template));
  const accounts = await openRowAccounts(terminal, profiles, options);
  const takesModels = accounts.areNamed || terminal.provider !== undefined;
  const rowOptions = { template, schema, structured, takesModels, schemaProblems: problems };
  const complete = (body: CreateBody, profile: string | undefined) =>
    accounts.bodyAt(accounts.of(profile), { ...body, ...context });
  const made = buildRows(parsed, { ...rowOptions, complete });
  return { rows: made.rows, faults: [...made.faults, ...faults], format, findAccount: accounts.of };
}

/** Opens the accounts of rows with these profiles. Also returns a function that builds the request of a row. Rejects with UsageError. */
async function openRowAccounts(
  ctx: Context,
  profiles: readonly (string | undefined)[],
  options: InputOptions & { dryRun?: boolean },
) {
  const { model = [], set = [], after: afterId, domains, notDomains, window, perHour, tier } = options;
  const named = openNamedAccounts(
    ctx,
    profiles.map((profile) => ({ profile })),
  );
  const areNamed = named.size > 0;
  if (areNamed)
    refuseFlagsBeside("a column `profile`", { set: set[0], after: afterId, perHour, tier }, OWN_SETTINGS);
  const accounts = [...(!areNamed || profiles.includes(undefined) ? [ctx] : []), ...named.values()];
  const last = model.at(-1);
  const models = areNamed
    ? chooseModels(model, accounts)
    : new Map<ProfileAccount, string>(last === undefined ? [] : [[ctx, last]]);
  const { after } = areNamed ? {} : await completeRequestBody(ctx, { prompt: "" }, options);
  const checks = new Map<ProfileAccount, ((body: CreateBody) => unknown) | undefined>();
  for (const account of accounts) checks.set(account, account.provider && (await account.dialect()).create);
  const buildBodyAt = (account: ProfileAccount, body: CreateBody): CreateBody => {
    const whole = {
      ...addProviderOptions(account, body, { model: models.get(account), set, domains, notDomains, window }),
      ...(after !== undefined && { after }),
      ...(body.model && { model: body.model }),
    };
    checks.get(account)?.(whole);
    return whole;
  };
  const findNamed = (profile: string | undefined): ProfileAccount => named.get(profile ?? "") ?? ctx;
  return { areNamed, bodyAt: buildBodyAt, of: findNamed };
}

/** Reads the schema of all rows. Adds an invalid one to `faults`, so that it is reported together with invalid rows. */
async function readSharedSchema(
  terminal: Pick<Terminal, "host" | "signal">,
  source: string | undefined,
  faults: RowFault[],
): Promise<JsonSchema | undefined> {
  try {
    return await readSchema(source, terminal.host.stdin, terminal.signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    faults.push({ reason: error.message });
    return undefined;
  }
}

const PARSERS: Readonly<Record<Format, (text: string) => ParsedInput>> = {
  ...{ jsonl: parseJsonLines, txt: parsePromptLines, csv: parseCsv },
};

/** Checks the schemas of rows. Returns what is wrong with each invalid one, by its JSON text. Loads the checker only if needed. */
async function checkRowSchemas({ records }: ParsedInput, signal: AbortSignal): Promise<Map<string, string>> {
  const texts = new Set(records.flatMap(({ fields }) => getSchemaText(fields.output_schema) ?? []));
  const problems = new Map<string, string>();
  if (texts.size === 0) return problems;
  const { checkSchema, describeProblem } = await import("../../../../core/json-schema/check-in-thread.js");
  for (const text of texts) {
    const schema = parseSchemaText(text);
    const problem = schema && (await checkSchema(schema, signal));
    if (problem) problems.set(text, describeProblem(problem, "the top level"));
  }
  return problems;
}

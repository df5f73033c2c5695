import { parseExact } from "../../json/exact-json.js";
import { requireBaseUrl } from "../../machine/settings.js";
import { type CreateBody, requestBody } from "../../protocol/conversation.js";
import { shellWord } from "../../text/phrases.js";
import { safeJson } from "../../text/safe-text.js";
import { followUpOf } from "../../workflows/targets.js";
import type { Context } from "../context.js";
import type { Terminal } from "../terminal/terminal.js";
import { readPrompt } from "./prompt.js";
import { readGivenSchema } from "./schema.js";

/** What only a provider takes. */
export interface ProviderOptions {
  model?: string;
  set?: string[];
  /** A request as its user names it. */
  after?: string;
}

export interface RequestOptions {
  promptFile?: string;
  schema?: string;
  structured?: boolean;
}

/** What a create sends, from an argument and flags, all of it checked. Throws UsageError or LocalError. */
export async function readRequest(
  { host, signal }: Pick<Terminal, "host" | "signal">,
  prompt: string | undefined,
  options: RequestOptions,
): Promise<CreateBody> {
  const { stdin } = host;
  const stdinTaken = options.schema === "-";
  const source = { argument: prompt, promptFile: options.promptFile, stdinTaken };
  const text = await readPrompt(source, stdin, signal);
  const schema = await readGivenSchema(options.schema, stdin, signal);
  return requestBody(text, schema, options.structured ?? false);
}

/** The create as it is sent: with what flags and settings give it at a provider. Throws UsageError. */
export async function completeRequest(
  ctx: Context,
  body: CreateBody,
  { model, set, after, dryRun }: ProviderOptions & { dryRun?: boolean },
): Promise<CreateBody> {
  const asked = ctx.asked(body, { model, set, after });
  if (after === undefined) return asked;
  return { ...asked, after: await followUpOf(ctx.ports, after, { signal: ctx.signal, isOffline: dryRun }) };
}

/** Shows what would be sent. As a command it works for every prompt: nothing in a here-document is expanded. */
export async function showRequest(ctx: Context, body: CreateBody): Promise<void> {
  const { reporter, provider } = ctx;
  const base = requireBaseUrl(ctx.settings);
  const dialect = await ctx.dialect();
  const { method, path, headers: own, body: text = "" } = dialect.create(body);
  const url = base.origin + base.pathname.replace(/\/$/, "") + path;
  const variable = provider?.baseUrl === base.origin ? provider.keyVariable : "RESEARCH_API_KEY";
  const [name, prefix] = dialect.keyHeader;
  const all = { [name]: `${prefix}$${variable}`, "content-type": "application/json", ...own };
  const headers = Object.fromEntries(
    Object.entries(all).map(([one, value]) => [
      one.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  );
  const json = parseExact(text);
  if (reporter.json) return reporter.resultJson({ method, url, headers, body: json });
  const flags = Object.entries(headers).map(([one, value]) => `-H "${one}: ${value}"`);
  const command = ["curl -sS --globoff", `-X ${method}`, shellWord(url), ...flags, "--data-binary @-"].join(
    " ",
  );
  await reporter.result(`${command} <<'RESEARCH_REQUEST'\n${safeJson(json)}\nRESEARCH_REQUEST\n`);
}

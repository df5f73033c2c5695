import { parseExact } from "../../json/exact-json.js";
import { requireValidSchema } from "../../machine/asked.js";
import { UsageError } from "../../machine/errors.js";
import { checkSize, readTextFile, readTextStream } from "../../machine/read-text.js";
import { requireBaseUrl } from "../../machine/settings.js";
import { type CreateBody, type JsonSchema, requestBody } from "../../protocol/conversation.js";
import { shellWord } from "../../text/phrases.js";
import { safeJson } from "../../text/safe-text.js";
import { followUpOf } from "../../workflows/requests.js";
import type { ProviderOptions, RequestOptions } from "../commands/definition.js";
import type { Context } from "../context.js";
import { parseJson } from "../errors.js";
import type { Host } from "../terminal/host.js";
import type { Terminal } from "../terminal/reporter.js";

/** What a create sends, from an argument and flags, all of it checked. Throws UsageError or LocalError. */
export async function readRequest(
  { host, signal }: Pick<Terminal, "host" | "signal">,
  prompt: string | undefined,
  options: RequestOptions,
): Promise<CreateBody> {
  const { stdin } = host;
  const text = await readPrompt(prompt, options, stdin, signal);
  const schema = await readGivenSchema(options.schema, stdin, signal);
  return requestBody(text, schema, options.structured ?? false);
}

/** The create as it is sent: with what flags and settings give it at a provider. Throws UsageError. */
export async function completeRequest(
  ctx: Context,
  body: CreateBody,
  { model, set, after, dryRun }: Partial<ProviderOptions> & { dryRun?: boolean },
): Promise<CreateBody> {
  const asked = ctx.asked(body, { model, set, after });
  if (after === undefined) return asked;
  return { ...asked, after: await followUpOf(ctx.ports, after, { signal: ctx.signal, isOffline: dryRun }) };
}

/** Shows what would be sent. As a command it works for every prompt: nothing in a here-document is expanded. Returns 0. */
export async function showRequest(ctx: Context, body: CreateBody): Promise<number> {
  const { reporter, provider } = ctx;
  const base = requireBaseUrl(ctx.settings);
  const dialect = await ctx.dialect();
  const { method, path, headers: own, body: text = "" } = dialect.create(body);
  const url = base.origin + base.pathname.replace(/\/$/, "") + path;
  const variable = provider?.baseUrl === base.origin ? provider.keyVariable : "RESEARCH_API_KEY";
  const [name, prefix] = dialect.keyHeader;
  const all = { [name]: `${prefix}$${variable}`, "content-type": "application/json", ...own };
  const titled = (header: string) => header.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  const headers = Object.fromEntries(Object.entries(all).map(([one, value]) => [titled(one), value]));
  const json = parseExact(text);
  const flags = Object.entries(headers).map(([one, value]) => `-H "${one}: ${value}"`);
  const words = ["curl -sS --globoff", `-X ${method}`, shellWord(url), ...flags, "--data-binary @-"];
  const shown = `${words.join(" ")} <<'RESEARCH_REQUEST'\n${safeJson(json)}\nRESEARCH_REQUEST\n`;
  await reporter.show({ method, url, headers, body: json }, shown);
  return 0;
}

const HOW = 'Give it as one argument ("…"), on stdin, or with --prompt-file PATH.';

/**
 * The prompt: the argument; or stdin, when the argument is `-`, or when there is none and stdin is not a terminal;
 * or a file, `-` being stdin. Throws UsageError for more than one, none, or a blank one, LocalError for an unreadable file.
 */
export async function readPrompt(
  argument: string | undefined,
  { promptFile, schema }: RequestOptions,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<string> {
  const stdinTaken = schema === "-";
  if (argument !== undefined && promptFile !== undefined)
    throw new UsageError("two prompts: one as an argument and one in --prompt-file", "Give one of them.");
  const fromStdin = argument === "-" || promptFile === "-";
  if (promptFile !== undefined && !fromStdin)
    return notBlank(await readTextFile(promptFile, "the prompt file", signal));
  if (argument !== undefined && !fromStdin) return notBlank(checkSize(argument, "the prompt"));
  if (fromStdin && stdinTaken)
    throw new UsageError(
      "the prompt and the schema cannot both come from stdin",
      "Give one of them as a file.",
    );
  if (stdinTaken || (!fromStdin && stdin.isTTY)) throw new UsageError("no prompt was given", HOW);
  return notBlank(await readTextStream(stdin.stream, "the prompt", signal));
}

function notBlank(prompt: string): string {
  if (prompt.trim() === "") throw new UsageError("the prompt is blank", HOW);
  return prompt;
}

/**
 * A schema given as JSON text, as a path, or as `-` for stdin, checked as JSON and as a JSON Schema. Throws
 * UsageError that says where it is wrong, LocalError for an unreadable file.
 */
export async function readSchema(
  source: string,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<JsonSchema> {
  const inline = /^\s*[[{]/.test(source);
  const what = inline ? "the schema" : source === "-" ? "the schema on stdin" : `the schema in ${source}`;
  const text = inline
    ? checkSize(source, "the schema")
    : source === "-"
      ? await readTextStream(stdin.stream, "the schema", signal)
      : await readTextFile(source, "the schema file", signal);
  const schema = await parseJson(text, what);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new UsageError(`${what} is an invalid JSON Schema: it must be a JSON object`);
  }
  await requireValidSchema(schema as JsonSchema, what, signal);
  return schema as JsonSchema;
}

/** The schema of a `--schema` flag; undefined if it was not given. Throws as `readSchema`. */
export async function readGivenSchema(
  source: string | undefined,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<JsonSchema | undefined> {
  if (source === undefined) return undefined;
  if (source === "")
    throw new UsageError("invalid value for --schema: it is empty", "Give a file, - for stdin, or JSON.");
  return readSchema(source, stdin, signal);
}

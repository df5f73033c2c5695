import { UsageError } from "../../app/errors.js";
import { addProviderOptions, requireValidSchema } from "../../app/provider-options.js";
import { checkTextSize, readText } from "../../app/read-text.js";
import type { HistoryEntry } from "../../client/store/history/history-records.js";
import { findFollowUpId } from "../../client/workflows/find-and-query-requests.js";
import { tryParseJson } from "../../core/json/exact-json.js";
import { buildRequestBody, type CreateBody, type JsonSchema } from "../../core/protocol/conversation.js";
import type { Context } from "../command-context.js";
import type { Given } from "../commands/shared-flags.js";
import { describeContext } from "../requests/show-states.js";
import type { Host } from "../terminal/host.js";
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

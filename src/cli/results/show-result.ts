import { CodedError, refuseFlagsBeside, UsageError } from "../../app/errors.js";
import { describeSchemaMismatch, formatResult, formatWithSources } from "../../app/format-result.js";
import { checkOutputFile, writeOutputFile } from "../../app/output-file.js";
import { explainFailure } from "../../client/calls/errors.js";
import { isResultCutShort } from "../../client/dialects/providers.js";
import { checkResultSchema, type Result } from "../../client/workflows/fetch-results.js";
import { LocalError } from "../../core/files/local-error.js";
import type { Data, JsonSchema } from "../../core/protocol/conversation.js";
import { escapeLine, escapeResult, stringifySafe } from "../../core/text/safe-text.js";
import { listFlagArguments } from "../command-context.js";
import type { Given } from "../commands/shared-flags.js";
import type { Reporter, Terminal } from "../terminal/reporter.js";
import { getResultCapabilities } from "../terminal/style.js";
import type { ResultSource } from "./open-result-page.js";

type ResultFlags = Given<"result">;

/** Throws UsageError for flags that exclude each other or a file that could not be written, before the request costs anything. */
export function checkResultOptions(options: ResultFlags & { bibliography?: string }, json: boolean): void {
  const { output, force, raw, html, web, bibliography: form } = options;
  if (form) refuseFlagsBeside(`--bibliography ${form}`, { raw, html, web, json: json && form === "ris" });
  const page = web ? "--web" : html ? "--html" : undefined;
  const other = json ? "JSON output" : raw ? "--raw" : web && output !== undefined ? "--output" : undefined;
  if (page && other)
    throw new UsageError(
      `${page} and ${other} cannot be used together`,
      "Use one of them, or run the command twice.",
    );
  if (output === undefined || output === "-") return;
  if (/[/\\]$/.test(output)) throw new LocalError(`${output} is a folder; name a file`);
  checkOutputFile(output, force ?? false);
}

/** Returns the flags for an `output` command that delivers the result in the same way. */
export function listResultArguments({ output, force, strict, raw, html, web }: ResultFlags): string[] {
  // The short form `-o` is the one that people type.
  const path = output === undefined ? [] : ["-o", output];
  return [...path, ...listFlagArguments({ force, strict, raw, html, web })];
}

/** Maximum size of a result that is formatted for a terminal, in bytes; a larger one is printed unchanged (contract §6). */
const MAX_LAID_OUT_BYTES = 2 * 1024 * 1024;

/** Writes a result to a file, a browser or stdout. Throws LocalError or ClosedPipeError. */
export async function showResult(
  terminal: Terminal,
  result: Result,
  source: ResultSource,
  options: ResultFlags,
): Promise<void> {
  const { reporter, host } = terminal;
  const { output, force = false, html, web } = options;
  if (web) {
    const { openResultPage } = await import("./open-result-page.js");
    return openResultPage(terminal, result, source);
  }
  const text = reporter.json
    ? `${stringifySafe(result.data)}\n`
    : html
      ? await (await import("./open-result-page.js")).buildResultPage(result, source)
      : options.raw
        ? formatResult(result)
        : formatWithSources(result);
  if (output !== undefined && output !== "-") {
    writeOutputFile(output, text, force);
    return reporter.say(`wrote ${output}`);
  }
  const isRead = host.stdout.isTTY && !reporter.json && !html;
  if (isRead) await reporter.writeGap();
  await reporter.writeResult(isRead ? await formatForReading(terminal, result, text, options) : text);
}

/** Formats a result for reading on a terminal: lays out Markdown, and makes control characters harmless. */
async function formatForReading(
  { host }: Terminal,
  { value }: Result,
  text: string,
  { raw }: ResultFlags,
): Promise<string> {
  if (typeof value === "string" && !raw && Buffer.byteLength(text) <= MAX_LAID_OUT_BYTES) {
    const { layOutMarkdown } = await import("../../core/markdown/terminal/lay-out-markdown.js");
    const laidOut = layOutMarkdown(text, getResultCapabilities(host.stdout, host.env));
    if (laidOut !== undefined) return laidOut;
  }
  const safe = escapeResult(text);
  return safe.endsWith("\n") ? safe : `${safe}\n`;
}

/** Warns if a result does not fit its schema. With `strict`, throws `SCHEMA_MISMATCH` instead. */
export async function checkSchemaFit(
  { reporter, signal }: Pick<Terminal, "reporter" | "signal">,
  result: Result,
  { requestId, schema }: { requestId: string; schema: JsonSchema | undefined },
  { strict = false }: Pick<ResultFlags, "strict">,
): Promise<void> {
  if (!schema) {
    if (strict)
      await reporter.writeNotice(
        "NOT_CHECKED",
        `the result was not checked: the history has no schema for ${requestId}`,
      );
    return;
  }
  const problem = await checkResultSchema(result, schema, { signal });
  if (!problem) return;
  const message =
    problem.path === undefined
      ? `the result could not be checked against its schema: ${problem.message}`
      : await describeSchemaMismatch(result, problem);
  if (strict) throw new CodedError("SCHEMA_MISMATCH", message, { requestId });
  await reporter.writeNotice("SCHEMA_MISMATCH", message);
}

/** Reasons with which a provider reports that it ended a COMPLETED run early. */
const EARLY = ["budget_reached", "time_limit_reached", "stopped"];

/** Warns if the provider reports that the result is incomplete, or that the run ended early. */
export async function warnOfPartialResult(reporter: Reporter, data: Data, requestId: string): Promise<void> {
  const { stop_reason: reason, provider_status: word, warnings } = data;
  if (isResultCutShort(data)) {
    const why = escapeLine(explainFailure(data) ?? String(word));
    await reporter.writeNotice("CUT_SHORT", `the result of ${requestId} was cut short: ${why}`);
  } else if (EARLY.includes(String(reason)))
    await reporter.writeNotice("ENDED_EARLY", `${requestId} is COMPLETED, but ended early: ${reason}`);
  for (const warning of Array.isArray(warnings) ? warnings : []) {
    const { message } = Object(warning);
    if (typeof message === "string") await reporter.writeNotice("PROVIDER_WARNING", escapeLine(message));
  }
}

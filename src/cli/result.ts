import { memberText } from "../json/exact-json.js";
import type { Data } from "../protocol/data.js";
import type { Entry } from "../store/history/records.js";
import { safeJson, safeResult } from "../text/safe-text.js";
import type { Context } from "./context.js";
import { CliError } from "./errors.js";
import { checkTarget, writeTarget } from "./output-file.js";

export interface ResultOptions {
  /** A path, `-` for stdout; absent for stdout. */
  output?: string;
  force?: boolean;
  strict?: boolean;
}

/** Throws LocalError where the result could not be written to its file: asked before anything is spent. */
export function checkResultOptions({ output, force }: ResultOptions): void {
  if (output !== undefined && output !== "-") checkTarget(output, force ?? false);
}

/**
 * Delivers the output of a completed conversation; see `writeResult` and `checkFit`. Throws CliError
 * `SCHEMA_MISMATCH` after delivery, with `strict`.
 */
export async function deliver(
  ctx: Context,
  data: Data,
  entry: Entry | undefined,
  options: ResultOptions,
): Promise<void> {
  await writeResult(ctx, data, options);
  await checkFit(ctx, data, entry, options);
}

/**
 * Writes the output of a completed conversation. stdout gets it exactly, made safe only where that is a
 * terminal. Returns the path of the file it went to, if any. Throws LocalError, ClosedPipe.
 */
export async function writeResult(
  ctx: Context,
  data: Data,
  { output, force = false }: ResultOptions,
): Promise<string | undefined> {
  const { reporter, host } = ctx;
  const text = reporter.json ? `${safeJson(data)}\n` : resultText(ctx, data);
  if (output !== undefined && output !== "-") {
    writeTarget(output, text, force);
    await reporter.say(`wrote ${output}`);
    return output;
  }
  if (host.stdout.isTTY && !reporter.json) {
    const safe = safeResult(text);
    await reporter.result(safe.endsWith("\n") ? safe : `${safe}\n`);
  } else {
    await reporter.result(text);
  }
  return undefined;
}

/** What of the output's data is the result: the setting `output-field` where it is there, else all of it. */
export function resultOf({ settings }: Context, data: Data): unknown {
  const field = settings.gaps.outputField.value;
  return Object.hasOwn(data, field) ? data[field] : data;
}

/** A result for printing: text as it is, anything else as indented JSON in which every number and name is exact. */
export function resultText(ctx: Context, data: Data): string {
  const result = resultOf(ctx, data);
  if (typeof result === "string") return result;
  return `${safeJson(memberText(data, ctx.settings.gaps.outputField.value) ?? data, 2)}\n`;
}

/** Checks a result against the schema it was asked for, where that is known: a mismatch is said, or thrown with `strict`. */
export async function checkFit(
  ctx: Context,
  data: Data,
  entry: Pick<Entry, "request_id" | "output_schema"> | undefined,
  { strict = false, name }: Pick<ResultOptions, "strict"> & { name?: string },
): Promise<void> {
  if (!entry?.output_schema) return;
  const { resultFault } = await import("./input/json-schema.js");
  const fault = resultFault(entry.output_schema, resultOf(ctx, data));
  if (fault === undefined) return;
  const message = `${name ? `${name}: ` : ""}the result does not fit its schema: ${fault}`;
  if (strict) throw new CliError("SCHEMA_MISMATCH", message, { requestId: entry.request_id ?? undefined });
  await ctx.reporter.notice("SCHEMA_MISMATCH", message);
}

import type { Data } from "../protocol/envelope.js";
import type { Entry } from "../store/records.js";
import type { Context } from "./context.js";
import { CliError } from "./errors.js";
import { safeJson, safeResult } from "./safe-text.js";
import { checkTarget, writeTarget } from "./write-target.js";

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
 * Delivers the output of a completed conversation. stdout gets it exactly, made safe only where that is a
 * terminal. Throws CliError `SCHEMA_MISMATCH` after delivery, with `strict`.
 */
export async function deliver(
  ctx: Context,
  data: Data,
  entry: Entry | undefined,
  options: ResultOptions,
): Promise<void> {
  const { reporter, host, settings } = ctx;
  const field = settings.gaps.outputField.value;
  const result = Object.hasOwn(data, field) ? data[field] : data;
  const text = reporter.json ? `${safeJson(data)}\n` : asText(result);
  if (options.output !== undefined && options.output !== "-") {
    writeTarget(options.output, text, options.force ?? false);
    await reporter.say(`wrote ${options.output}`);
  } else if (host.stdout.isTTY && !reporter.json) {
    const safe = safeResult(text);
    await reporter.result(safe.endsWith("\n") ? safe : `${safe}\n`);
  } else {
    await reporter.result(text);
  }
  await checkFit(ctx, result, entry, options.strict ?? false);
}

/** Text as it is, anything else as indented JSON. */
function asText(result: unknown): string {
  return typeof result === "string" ? result : `${safeJson(result, 2)}\n`;
}

async function checkFit(
  ctx: Context,
  result: unknown,
  entry: Entry | undefined,
  strict: boolean,
): Promise<void> {
  if (!entry?.output_schema) return;
  const { resultFault } = await import("./json-schema.js");
  const fault = resultFault(entry.output_schema, result);
  if (fault === undefined) return;
  const message = `the result does not fit its schema: ${fault}`;
  if (strict) throw new CliError("SCHEMA_MISMATCH", message, { requestId: entry.request_id ?? undefined });
  await ctx.reporter.notice("SCHEMA_MISMATCH", message);
}

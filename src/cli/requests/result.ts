import type { JsonSchema } from "../../protocol/conversation.js";
import { LocalError } from "../../store/errors.js";
import { safeJson, safeResult } from "../../text/safe-text.js";
import type { Result } from "../../workflows/results.js";
import { CliError, UsageError } from "../errors.js";
import { checkTarget, writeTarget } from "../output-file.js";
import type { Terminal } from "../terminal/terminal.js";

export interface ResultOptions {
  /** A path, `-` for stdout; absent for stdout. */
  output?: string;
  force?: boolean;
  strict?: boolean;
}

/** A request whose result is checked; a schema that is not known is undefined. */
export interface CheckedRequest {
  requestId: string;
  schema: JsonSchema | undefined;
}

/**
 * Throws UsageError or LocalError if the result could not be written to its file: called before anything is spent.
 */
export function checkResultOptions({ output, force }: ResultOptions): void {
  if (output === undefined || output === "-") return;
  if (output === "")
    throw new UsageError("invalid value for --output: it is empty", "Give a path, or - for stdout.");
  if (/[/\\]$/.test(output)) throw new LocalError(`${output} is a folder; name a file`);
  checkTarget(output, force ?? false);
}

/** The words of an `output` command that deliver a result in the same way. */
export function resultWords({ output, force, strict }: ResultOptions): string[] {
  return [
    ...(output === undefined ? [] : ["-o", output]),
    ...(force ? ["--force"] : []),
    ...(strict ? ["--strict"] : []),
  ];
}

/**
 * Writes a result: to a file, or to stdout, which gets it exactly unless that is a terminal. Returns the path of
 * the file. Throws LocalError or ClosedPipe.
 */
export async function showResult(
  { reporter, host }: Terminal,
  result: Result,
  { output, force = false }: ResultOptions,
): Promise<string | undefined> {
  const text = reporter.json ? `${safeJson(result.data)}\n` : resultText(result);
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

/** A result for printing: text as it is, anything else as indented JSON in which every number and name is exact. */
export function resultText({ value, exact }: Pick<Result, "value" | "exact">): string {
  return typeof value === "string" ? value : `${safeJson(exact, 2)}\n`;
}

/**
 * Checks a result against the schema it was asked for. A mismatch is said, or thrown as CliError `SCHEMA_MISMATCH`
 * with `strict`. `name` stands before the message, where there are several results.
 */
export async function checkFit(
  { reporter }: Pick<Terminal, "reporter">,
  value: unknown,
  { requestId, schema }: CheckedRequest,
  { strict = false, name }: Pick<ResultOptions, "strict"> & { name?: string },
): Promise<void> {
  const subject = name ? `${name}: ` : "";
  if (!schema) {
    if (strict)
      await reporter.notice(
        "NOT_CHECKED",
        `${subject}the result was not checked: no schema is known for ${requestId}`,
      );
    return;
  }
  const { resultFault } = await import("../input/json-schema.js");
  const fault = resultFault(schema, value);
  if (fault === undefined) return;
  const message = `${subject}the result does not fit its schema: ${fault}`;
  if (strict) throw new CliError("SCHEMA_MISMATCH", message, { requestId });
  await reporter.notice("SCHEMA_MISMATCH", message);
}

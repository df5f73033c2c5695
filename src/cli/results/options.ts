import { UsageError } from "../../machine/errors.js";
import { checkTarget } from "../../machine/output-file.js";
import { LocalError } from "../../store/errors.js";

export interface ResultOptions {
  /** A path, `-` for stdout; absent for stdout. */
  output?: string;
  force?: boolean;
  strict?: boolean;
  /** As it came, on a terminal too. */
  raw?: boolean;
  /** As a page. */
  html?: boolean;
  /** As a page that is opened in a browser. */
  web?: boolean;
}

/**
 * Throws UsageError for flags that exclude each other, and UsageError or LocalError if the result could not be
 * written to its file: called before anything is spent. `json`: whether JSON was asked for.
 */
export function checkResultOptions(options: ResultOptions, json: boolean): void {
  checkForm(options, json);
  const { output, force } = options;
  if (output === undefined || output === "-") return;
  if (output === "")
    throw new UsageError("invalid value for --output: it is empty", "Give a path, or - for stdout.");
  if (/[/\\]$/.test(output)) throw new LocalError(`${output} is a folder; name a file`);
  checkTarget(output, force ?? false);
}

function checkForm({ output, raw, html, web }: ResultOptions, json: boolean): void {
  const page = web ? "--web" : html ? "--html" : undefined;
  const other = json ? "JSON output" : raw ? "--raw" : web && output !== undefined ? "--output" : undefined;
  if (page && other)
    throw new UsageError(`${page} and ${other} exclude each other`, "Give one of them, or run it twice.");
}

/** The words of an `output` command that deliver a result in the same way. */
export function resultWords({ output, force, strict, raw, html, web }: ResultOptions): string[] {
  return [
    ...(output === undefined ? [] : ["-o", output]),
    ...(force ? ["--force"] : []),
    ...(strict ? ["--strict"] : []),
    ...(raw ? ["--raw"] : []),
    ...(html ? ["--html"] : []),
    ...(web ? ["--web"] : []),
  ];
}

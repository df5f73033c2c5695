import { writeTarget } from "../../machine/output-file.js";
import { resultText, textWithSources } from "../../machine/result-text.js";
import { safeJson, safeResult } from "../../text/safe-text.js";
import type { Result } from "../../workflows/results.js";
import { readingTerminal } from "../terminal/reading.js";
import type { Terminal } from "../terminal/terminal.js";
import type { ResultOptions } from "./options.js";
import type { ResultSource } from "./page.js";

/** A larger result is given as it came (contract §6). */
const MAX_LAID_OUT_BYTES = 2 * 1024 * 1024;

/**
 * Delivers a result: to a file, to a browser, or to stdout, which gets it exactly unless that is a terminal. `source`
 * is where the result comes from, for a page. Returns the path that `--output` named. Throws LocalError or ClosedPipe.
 */
export async function showResult(
  terminal: Terminal,
  result: Result,
  source: ResultSource,
  options: ResultOptions,
): Promise<string | undefined> {
  const { reporter, host } = terminal;
  const { output, force = false, html, web } = options;
  if (web) {
    const { openPage } = await import("./page.js");
    await openPage(terminal, result, source);
    return undefined;
  }
  const text = reporter.json
    ? `${safeJson(result.data)}\n`
    : html
      ? (await import("./page.js")).pageOf(result, source)
      : options.raw
        ? resultText(result)
        : textWithSources(result);
  if (output !== undefined && output !== "-") {
    writeTarget(output, text, force);
    await reporter.say(`wrote ${output}`);
    return output;
  }
  const isRead = host.stdout.isTTY && !reporter.json && !html;
  await reporter.result(isRead ? await forReading(terminal, result, text, options) : text);
  return undefined;
}

/** A result for a terminal, on which nothing in it acts: Markdown laid out, anything else as it came. */
async function forReading(
  { host }: Terminal,
  { value }: Result,
  text: string,
  { raw }: ResultOptions,
): Promise<string> {
  if (typeof value === "string" && !raw && Buffer.byteLength(text) <= MAX_LAID_OUT_BYTES) {
    const { layOut } = await import("../../markdown/terminal/lay-out.js");
    const laidOut = layOut(text, readingTerminal(host.stdout, host.env));
    if (laidOut !== undefined) return laidOut;
  }
  const safe = safeResult(text);
  return safe.endsWith("\n") ? safe : `${safe}\n`;
}

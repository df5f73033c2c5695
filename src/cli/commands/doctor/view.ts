import { safeLine } from "../../../text/safe-text.js";
import type { Style } from "../../terminal/style.js";
import type { CheckResult } from "./check.js";

const SIGNS = { ok: "good", warn: "busy", fail: "bad", skipped: "dim" } as const;

/** A line for each check: aligned, what was found, and the command that fixes it. */
export function resultLines(results: readonly CheckResult[], style: Style): string {
  const width = Math.max(...results.map(({ id }) => id.length));
  return results
    .map(({ id, status, message, fix }) => {
      const found = `${style[SIGNS[status]](status.padEnd(7))}  ${id.padEnd(width)}  ${safeLine(message)}`;
      return fix === undefined ? `${found}\n` : `${found}; fix: ${safeLine(fix)}\n`;
    })
    .join("");
}

/** The results for a program. */
export function resultsJson(results: readonly CheckResult[]) {
  return {
    ok: results.every(({ status }) => status !== "fail"),
    checks: results.map(({ id, status, message, fix, exitCode }) => ({
      id,
      status,
      message,
      fix: fix ?? null,
      exit_code: exitCode ?? 0,
    })),
  };
}

/** The results without key, prompt, host name and folder. */
export function publicResults(results: readonly CheckResult[]): CheckResult[] {
  return results.map(({ id, status, publicMessage, exitCode }) => ({
    id,
    status,
    message: publicMessage ?? status,
    ...(exitCode !== undefined && { exitCode }),
  }));
}

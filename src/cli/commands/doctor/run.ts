import { UsageError } from "../../../machine/errors.js";
import { safeLine } from "../../../text/safe-text.js";
import type { Context } from "../../context.js";
import { commandFailure, withPlace } from "../../errors.js";
import { nearest } from "../../help/nearest.js";
import { PLAIN, type Style } from "../../terminal/reporter.js";
import { type Check, checksOf, type Finding } from "./checks.js";

/** Checks this machine, the settings and the service, and changes nothing. */
export async function doctor(
  ctx: Context,
  { offline = false, only, report }: { offline?: boolean; only?: string; report?: boolean },
): Promise<number> {
  const { reporter, host } = ctx;
  const { checks, close } = checksOf(ctx);
  const selected = selectedIn(checks, only);
  const all = await runChecks(checks, selected, offline).finally(close);
  const results = report ? publicResults(all) : all;
  const system = `research ${host.version}, Node.js ${process.version}, ${host.platform} ${process.arch}`;
  const text = report
    ? `\`\`\`text\n${system}\n${resultLines(results, PLAIN)}\`\`\`\n`
    : resultLines(results, await reporter.style());
  await reporter.show(resultsJson(results), text);
  return all.find(({ status }) => status === "fail")?.exitCode ?? 0;
}

/** The ids that `--only` names; all of them without it. Throws UsageError for an unknown one. */
function selectedIn(checks: readonly Check[], only: string | undefined): readonly string[] {
  const ids = checks.map(({ id }) => id);
  const names = only?.split(",").map((name) => name.trim()) ?? ids;
  const unknown = names.find((name) => !ids.includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(
    `unknown check ${JSON.stringify(unknown)}`,
    `Did you mean ${nearest(unknown, ids)}? There are: ${ids.join(", ")}.`,
  );
}

export interface CheckResult extends Finding {
  id: string;
}

/**
 * Runs the selected checks and those they depend on, each once and in order. The results are of the selected ones, and of
 * others that failed: those are why a selected one was skipped.
 */
async function runChecks(
  checks: readonly Check[],
  selected: readonly string[],
  offline: boolean,
): Promise<CheckResult[]> {
  const needed = new Set(selected);
  for (const { id, needs = [] } of [...checks].reverse())
    if (needed.has(id)) for (const need of needs) needed.add(need);
  const results: CheckResult[] = [];
  for (const check of checks) {
    if (!needed.has(check.id)) continue;
    const isMissing = ({ id, status }: CheckResult) =>
      check.needs?.includes(id) && (status === "fail" || status === "skipped");
    results.push({ id: check.id, ...(await findingOf(check, results.find(isMissing), offline)) });
  }
  return results.filter(({ id, status }) => selected.includes(id) || status === "fail");
}

async function findingOf(check: Check, reason: CheckResult | undefined, offline: boolean): Promise<Finding> {
  if (offline && check.network) return { status: "skipped", message: "not asked with --offline" };
  if (reason) {
    const state = reason.status === "fail" ? "not ok" : "skipped";
    return { status: "skipped", message: `it depends on ${reason.id}, which is ${state}` };
  }
  try {
    return await check.run();
  } catch (error) {
    const { message, hint, exit_code } = commandFailure(await withPlace(error));
    return { status: "fail", message, fix: hint, exitCode: exit_code };
  }
}

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
    checks: results.map(({ id, status, message, fix = null, exitCode = 0 }) => ({
      ...{ id, status, message, fix, exit_code: exitCode },
    })),
  };
}

/** The results without key, prompt, host name and folder. */
export function publicResults(results: readonly CheckResult[]): CheckResult[] {
  return results.map(({ id, status, publicMessage = status, exitCode }) => ({
    ...{ id, status, message: publicMessage },
    ...(exitCode !== undefined && { exitCode }),
  }));
}

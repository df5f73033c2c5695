import { escapeLine } from "../../../core/text/safe-text.js";
import type { Context } from "../../command-context.js";
import { addErrorPlace, describeCommandFailure } from "../../errors.js";
import type { Style } from "../../terminal/style.js";
import { type DoctorCheck, type Finding, listChecks } from "./checks.js";

export async function runDoctor(ctx: Context, { offline = false }: { offline?: boolean }): Promise<number> {
  const { checks, close } = listChecks(ctx);
  const results = await runChecks(checks, offline).finally(close);
  await ctx.reporter.showFitted(
    buildChecksJson(results),
    formatCheckTable(results, await ctx.reporter.loadStyle()),
  );
  return results.find(({ status }) => status === "fail")?.exitCode ?? 0;
}

export interface CheckResult extends Finding {
  id: string;
}

/** Runs the checks in order. Skips a check if one of its `needs` failed or was skipped. */
async function runChecks(checks: readonly DoctorCheck[], offline: boolean): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const isMissing = ({ id, status }: CheckResult) =>
      check.needs?.includes(id) && (status === "fail" || status === "skipped");
    results.push({ id: check.id, ...(await runCheck(check, results.find(isMissing), offline)) });
  }
  return results;
}

async function runCheck(
  check: DoctorCheck,
  reason: CheckResult | undefined,
  offline: boolean,
): Promise<Finding> {
  if (offline && check.network) return { status: "skipped", message: "skipped because of --offline" };
  if (reason) {
    const state = reason.status === "fail" ? "not ok" : "skipped";
    return { status: "skipped", message: `it depends on ${reason.id}, which is ${state}` };
  }
  try {
    return await check.run();
  } catch (error) {
    const { message, hint, exit_code } = describeCommandFailure(await addErrorPlace(error));
    return { status: "fail", message, fix: hint ?? check.fix, exitCode: exit_code };
  }
}

const SIGNS = { ok: "good", warn: "busy", fail: "bad", skipped: "dim" } as const;

/** Formats a line for each check, with its message and the command that fixes the problem. */
export function formatCheckTable(results: readonly CheckResult[], style: Style): string {
  const width = Math.max(...results.map(({ id }) => id.length));
  return results
    .map(({ id, status, message, fix }) => {
      const line = `${style[SIGNS[status]](status.padEnd(7))}  ${id.padEnd(width)}  ${escapeLine(message)}`;
      return fix === undefined ? `${line}\n` : `${line}; fix: ${escapeLine(fix)}\n`;
    })
    .join("");
}

export function buildChecksJson(results: readonly CheckResult[]) {
  return {
    ok: results.every(({ status }) => status !== "fail"),
    checks: results.map(({ id, status, message, fix = null, exitCode = 0 }) => ({
      ...{ id, status, message, fix, exit_code: exitCode },
    })),
  };
}

import type { Failure } from "../../../machine/failure.js";
import { commandFailure, withPlace } from "../../errors.js";
import type { Check, CheckId, CheckResult, Finding } from "./check.js";

export interface Selection {
  only: readonly CheckId[];
  offline: boolean;
}

/**
 * Runs the selected checks and those they depend on, each once and in order. The results are of the selected ones, and of
 * others that failed: those are why a selected one was skipped.
 */
export async function runChecks(
  checks: readonly Check[],
  { only, offline }: Selection,
): Promise<CheckResult[]> {
  const needed = withNeeds(checks, only);
  const results: CheckResult[] = [];
  for (const check of checks) {
    if (!needed.has(check.id)) continue;
    const reason = results.find(({ id, status }) => check.needs.includes(id) && isMissing(status));
    results.push({ id: check.id, ...(await findingOf(check, reason, offline)) });
  }
  return results.filter(({ id, status }) => only.includes(id) || status === "fail");
}

const isMissing = (status: Finding["status"]) => status === "fail" || status === "skipped";

async function findingOf(check: Check, reason: CheckResult | undefined, offline: boolean): Promise<Finding> {
  if (offline && check.network) return { status: "skipped", message: "not asked with --offline" };
  if (reason)
    return { status: "skipped", message: `it depends on ${reason.id}, which is ${wordFor(reason)}` };
  try {
    return await check.run();
  } catch (error) {
    return failed(commandFailure(await withPlace(error)));
  }
}

function wordFor({ status }: CheckResult): string {
  return status === "fail" ? "not ok" : "skipped";
}

/** The failure of a command as a finding: its sentence, hint and exit code. */
export function failed({ message, hint, exit_code }: Failure): Finding {
  return { status: "fail", message, exitCode: exit_code, ...(hint !== undefined && { fix: hint }) };
}

function withNeeds(checks: readonly Check[], only: readonly CheckId[]): Set<CheckId> {
  const needed = new Set(only);
  for (const { id, needs } of [...checks].reverse())
    if (needed.has(id)) for (const need of needs) needed.add(need);
  return needed;
}

import { basename } from "node:path";
import type { Machine } from "../../../../machine/machine.js";
import { readIfThere } from "../../../../store/files.js";
import { currentHour } from "../../../../workflows/quota.js";
import { placeOf } from "../../../completion/place.js";
import { SCRIPTS } from "../../../completion/scripts.js";
import { SHELLS } from "../../../completion/shells.js";
import type { Host } from "../../../terminal/host.js";
import { type Check, type Finding, ok } from "../check.js";

/** The hour's quota, and the completion of the user's shell. */
export function usageChecks(machine: Machine, host: Host): Check[] {
  return [
    { id: "quota", needs: ["history", "base-url", "key"], run: () => quotaFinding(machine) },
    { id: "completion", needs: [], run: () => completionFinding(host) },
  ];
}

function quotaFinding(machine: Machine): Finding {
  const { history } = machine;
  if (!history) return { status: "skipped", message: "no history is kept" };
  const limit = machine.hourlyLimit({});
  const hour = currentHour(machine.ports, limit ?? 1);
  const used = hour?.attempts.length ?? 0;
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) {
    const message = `${used} creates in the last hour; no limit is set`;
    return ok(message, message);
  }
  const message = `${used} of ${limit} creates used in the last hour`;
  if (used < limit) return ok(message, message);
  return {
    status: "warn",
    message: `${message}; the next one is allowed at ${new Date(hour?.nextAt ?? 0).toISOString()}`,
    publicMessage: message,
    fix: "research create --wait-for-quota",
  };
}

function completionFinding({ env }: Host): Finding {
  const name = basename(env.SHELL ?? "");
  const shell = SHELLS.find((one) => one === name);
  if (!shell) {
    const message = "SHELL names no shell that has a completion script";
    return { status: "skipped", message, publicMessage: message };
  }
  const place = placeOf(shell, env);
  const installed = place && readIfThere(place.path);
  if (installed === SCRIPTS[shell]) return ok(`installed for ${shell}`, `installed for ${shell}`);
  const message = installed === undefined ? `not installed for ${shell}` : `out of date for ${shell}`;
  return {
    status: "warn",
    message,
    publicMessage: message,
    fix: `research completion ${shell} --install`,
  };
}

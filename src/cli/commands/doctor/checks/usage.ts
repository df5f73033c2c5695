import { basename } from "node:path";
import { readIfThere } from "../../../../store/files.js";
import { createsPerHour, currentHour } from "../../../../workflows/quota.js";
import { placeOf } from "../../../completion/place.js";
import { SCRIPTS } from "../../../completion/scripts.js";
import { SHELLS } from "../../../completion/shells.js";
import { requireConnection } from "../../../settings.js";
import type { Host } from "../../../terminal/host.js";
import { type Check, type Finding, ok } from "../check.js";
import type { Inspected } from "../inspected.js";

/** The hour's quota, and the completion of the user's shell. */
export function usageChecks(inspected: Inspected, host: Host): Check[] {
  return [
    { id: "quota", needs: ["history", "base-url", "key"], run: () => quotaFinding(inspected, host) },
    { id: "completion", needs: [], run: () => completionFinding(host) },
  ];
}

function quotaFinding(inspected: Inspected, { clock }: Host): Finding {
  const { history, settings } = inspected;
  if (!history) return { status: "skipped", message: "no history is kept" };
  const { origin, apiKey } = requireConnection(inspected.settingsWithKey);
  const limit = createsPerHour(undefined, settings.tier?.value);
  const hour = currentHour({ history, origin, apiKey, clock }, limit ?? 1);
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

import { TIERS, type Tier } from "../../protocol/limits.js";
import { isoDate } from "../../text/duration.js";
import type { Ports } from "../../workflows/ports.js";
import { currentHour } from "../../workflows/quota.js";
import type { Reporter } from "../terminal/reporter.js";

/** With a limit set, says how many creates are left in this hour; without one, nothing. */
export async function sayLeft(reporter: Reporter, ports: Ports, limit: number | undefined): Promise<void> {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  const hour = currentHour(ports, limit);
  if (!hour)
    return reporter.notice(
      "QUOTA_UNKNOWN",
      "the creates of this hour are not counted, since no history is kept",
    );
  const left = Math.max(0, limit - hour.attempts.length);
  const next = left > 0 ? "" : `; the next one is allowed at ${isoDate(hour.nextAt)}`;
  await reporter.notice("QUOTA", `${left} of ${limit} creates left in this hour${next}`);
}

/** The flag that sets a limit. */
export function limitFlag(limit: number): string {
  const tier = Object.keys(TIERS).find((name) => TIERS[name as Tier].create === limit);
  return tier ? `--tier ${tier}` : `--per-hour ${limit}`;
}

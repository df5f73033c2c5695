import type { CreateBody } from "../../protocol/conversation.js";
import { TIERS, type Tier } from "../../protocol/limits.js";
import { formatDuration, isoDate } from "../../text/duration.js";
import type { Ports } from "../../workflows/ports.js";
import { type Submitted, submitWithinQuota } from "../../workflows/submit.js";
import type { Reporter, Terminal } from "../terminal/reporter.js";

export interface SubmitViewOptions {
  /** Creates per hour. */
  limit: number | undefined;
  waitForQuota?: boolean | undefined;
}

/** Submits, and says what it waits for. An id that is not on the disk is said before it can be lost. */
export async function showSubmit(
  { reporter, signal }: Terminal,
  ports: Ports,
  body: CreateBody,
  { limit, waitForQuota }: SubmitViewOptions,
): Promise<Submitted> {
  const submitted = await submitWithinQuota(ports, body, {
    limit,
    waitForQuota,
    signal,
    onWait: (until) =>
      reporter.notice(
        "WAITING_FOR_QUOTA",
        `${limitWords(ports)}; waiting ${formatDuration(until - ports.clock.now())}, until ${isoDate(until)}`,
      ),
  });
  const { data, notSaved } = submitted;
  if (notSaved)
    await reporter.notice("NOT_SAVED", `NOT SAVED: ${data.request_id} was created, but ${notSaved.message}`);
  return submitted;
}

/** Why no create is sent now. A provider's own limits are of seconds or minutes. */
export function limitWords({ provider }: Pick<Ports, "provider">): string {
  return provider ? `the limit of ${provider.title} is reached` : "the hourly limit is reached";
}

/** With a limit set, says how many creates are left in this hour; without one, nothing. */
export async function sayLeft(reporter: Reporter, ports: Ports, limit: number | undefined): Promise<void> {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  const hour = ports.history?.hour(ports, limit);
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

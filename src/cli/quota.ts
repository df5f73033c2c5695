import { RefusedError } from "../client/errors.js";
import { inWindow, nextSlot, TIERS, type Tier } from "../protocol/limits.js";
import { type Hour, hour } from "../store/history/reserve-create.js";
import type { Context } from "./context.js";
import { CliError } from "./errors.js";
import { requireConnection } from "./settings.js";
import { formatDuration } from "./terminal/durations.js";

/** The flags of whatever counts against the hourly limit. */
export interface QuotaOptions {
  tier?: Tier;
  /** Creates an hour; stands before a tier. */
  perHour?: number;
  waitForQuota?: boolean;
}

/** A 429 without a `Retry-After` is waited out for this long at least, in milliseconds. */
const LEAST_WAIT_MS = 60_000;
/** A `Retry-After` of 0 would be asked again in a busy loop. */
const LEAST_RETRY_MS = 1_000;

/** Creates allowed in an hour by flag or setting (§8); Infinity for no limit, undefined where nobody said. */
export function hourlyLimit(ctx: Context, { tier, perHour }: QuotaOptions): number | undefined {
  if (perHour !== undefined) return perHour;
  const named = tier ?? ctx.settings.tier?.value;
  return named && TIERS[named].create;
}

/** The hour for the origin and key in force, from this machine's records; undefined where none are kept. */
export function currentHour(ctx: Context, limit: number): Hour | undefined {
  return ctx.history && hour(ctx.history, requireConnection(ctx.settings), limit, ctx.host.clock.now());
}

/** No create is left in this hour by this machine's own count; nothing was sent. */
export class QuotaFull extends CliError {
  /** Epoch milliseconds. */
  readonly until: number;

  constructor(limit: number, until: number, now: number) {
    const retryAfter = Math.ceil((until - now) / 1_000);
    super(
      "RATE_LIMITED",
      `the hourly limit of ${limit} is used up by this machine's own records; the next create is allowed in ${formatDuration(until - now)}`,
      { retryAfter, hint: "Nothing was sent. --wait-for-quota waits instead." },
    );
    this.until = until;
  }
}

/**
 * Until when (epoch ms) a create that failed with `error` has to wait for the hour; undefined for any other
 * error. A 429 says so itself; where it does not, the oldest of the `attempts` has to leave the window.
 */
export function blockedUntil(
  error: unknown,
  attempts: () => readonly number[],
  limit: number | undefined,
  now: number,
): number | undefined {
  if (error instanceof QuotaFull) return error.until;
  if (!(error instanceof RefusedError) || error.kind !== "rate-limited") return undefined;
  if (error.retryAfter !== undefined) return now + Math.max(error.retryAfter * 1_000, LEAST_RETRY_MS);
  // The service is full at what it has seen from here, whatever the limit is called.
  const counted = inWindow(attempts(), now);
  const used = counted.length;
  const full = Math.max(1, Math.min(limit ?? used, used));
  return Math.max(nextSlot(counted, full, now), now + LEAST_WAIT_MS);
}

/** Waits for a moment of the wall clock (epoch ms), which the machine may also sleep through. */
export async function waitUntil(
  { host, signal }: Pick<Context, "host" | "signal">,
  until: number,
): Promise<void> {
  for (let left = until - host.clock.now(); left > 0; left = until - host.clock.now()) {
    await host.clock.sleep(Math.ceil(left), signal);
  }
}

/** Says that nothing is sent before `until` (epoch ms), and why. */
export async function announceWait(ctx: Context, why: string, until: number): Promise<void> {
  const wait = formatDuration(until - ctx.host.clock.now());
  await ctx.reporter.notice("WAITING_FOR_QUOTA", `${why}; waiting ${wait}, until ${isoDate(until)}`);
}

/** With a limit set, says what is left of it; without one, nothing. */
export async function sayLeft(ctx: Context, options: QuotaOptions): Promise<void> {
  const limit = hourlyLimit(ctx, options);
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  const now = currentHour(ctx, limit);
  if (!now)
    return ctx.reporter.notice(
      "QUOTA_UNKNOWN",
      "no history is kept, so nobody counts the creates of this hour",
    );
  const left = Math.max(0, limit - now.attempts.length);
  const next = left > 0 ? "" : `; the next slot is at ${isoDate(now.nextAt)}`;
  await ctx.reporter.notice("QUOTA", `${left} of ${limit} creates left in this hour${next}`);
}

/** Epoch milliseconds as ISO 8601 in UTC; a word where that is beyond all dates. */
export function isoDate(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "the end of time" : date.toISOString();
}

/** The flag that says a limit. */
export function limitFlag(limit: number): string {
  const tier = Object.keys(TIERS).find((name) => TIERS[name as Tier].create === limit);
  return tier ? `--tier ${tier}` : `--per-hour ${limit}`;
}

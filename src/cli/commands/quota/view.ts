import { formatDuration } from "../../../text/duration.js";

/** Where one key stands in its hour. */
export interface Quota {
  used: number;
  /** Creates an hour; null if there is no limit, or it is not known. */
  limit: number | null;
  left: number | null;
  /** When the next create is allowed, epoch ms; null without a limit. */
  nextSlotAt: number | null;
  origin: string;
  profile: string;
}

/** The hour as a sentence; `now` is epoch milliseconds. */
export function quotaText({ used, limit, left, nextSlotAt, origin }: Quota, now: number): string {
  if (limit === null || nextSlotAt === null) return `${used} creates in the last hour at ${origin}\n`;
  const next =
    nextSlotAt <= now
      ? "the next one may be sent now"
      : `the next slot is in ${formatDuration(nextSlotAt - now)}, at ${new Date(nextSlotAt).toISOString()}`;
  return `${used} of ${limit} creates used in the last hour at ${origin}, ${left} left; ${next}\n`;
}

/** The hour for a program. */
export function quotaJson({ used, limit, left, nextSlotAt, origin, profile }: Quota) {
  return {
    used,
    left,
    next_slot_at: nextSlotAt === null ? null : new Date(nextSlotAt).toISOString(),
    limit,
    origin,
    profile,
    counted_from: "this machine's own records",
  };
}

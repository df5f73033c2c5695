import { LocalError } from "../store/files.js";
import type { LimitOptions, Machine } from "./machine.js";
import { requireConnection } from "./settings.js";

/** Where one key stands in its hour, by this machine's own records. */
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

/** The hour of the origin and key in use. Throws CodedError for a missing setting, LocalError if no history is kept. */
export function quotaOf(machine: Machine, options: LimitOptions): Quota {
  const { ports, settings } = machine;
  const { origin } = requireConnection(settings);
  const limit = machine.hourlyLimit(options) ?? Number.POSITIVE_INFINITY;
  const isLimited = limit !== Number.POSITIVE_INFINITY;
  const hour = ports.history?.hour(ports, isLimited ? limit : 1);
  if (!hour)
    throw new LocalError(
      "the creates of this hour are not counted, since no history is kept on this machine",
    );
  const used = hour.attempts.length;
  const known = isLimited ? { limit, left: Math.max(0, limit - used), nextSlotAt: hour.nextAt } : NO_LIMIT;
  return { used, ...known, origin, profile: settings.profile.value };
}

const NO_LIMIT = { limit: null, left: null, nextSlotAt: null };

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

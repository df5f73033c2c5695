import { escapeHtml } from "../../../markdown/html/escape.js";
import { type HourlyLimit, nextSlot } from "../../../protocol/limits.js";
import { formatDuration } from "../../../text/duration.js";
import type { HourlyCount } from "../../conversations/overview.js";
import { isValid, type ServiceKey } from "../../keys/key-store.js";
import { ticking } from "../parts.js";
import { hourSvg } from "./hour.js";
import { timeHtml, type ViewParts } from "./view.js";

/** A key as the page shows it, of which only the name is known to anyone else. */
interface ShownKey {
  id: string;
  name: string;
  tier: string;
  limits: HourlyLimit;
}

/** The names of added keys by id, of revoked ones too; empty if none was added. */
export function keyNames(added: readonly ServiceKey[]): ReadonlyMap<string, string> {
  return new Map(
    added.map(({ id, name, revokedAt }) => [id, revokedAt === undefined ? name : `${name} (revoked)`]),
  );
}

/** The keys that are valid at `now` (epoch ms). */
export function shownKeys(
  added: readonly ServiceKey[],
  single: ViewParts["single"],
  now: number,
): ShownKey[] {
  if (added.length > 0) return added.filter((key) => isValid(key, now));
  return single ? [{ ...single, id: single.keyId, name: "The one key" }] : [];
}

/** The hour of each key (§8): what counts, and when the next request is allowed. */
export function keysHtml(
  keys: readonly ShownKey[],
  { at, counts }: { at: number; counts: readonly HourlyCount[] },
): string {
  const title = "<h2>Hour of each key</h2>";
  if (keys.length === 0) return `${title}\n<p class="none">No key is valid.</p>`;
  const items = keys.map(({ id, name, tier, limits }) => {
    const hour = (operation: keyof HourlyLimit) => {
      const times = counts.find((count) => count.keyId === id && count.operation === operation)?.times ?? [];
      return hourHtml(`${operation}-${escapeHtml(id)}`, operation, times, limits[operation], at);
    };
    const heading = `<h3>${escapeHtml(name)} <span class="tier">${escapeHtml(tier)}</span></h3>`;
    return `<section class="key">${heading}\n${hour("create")}\n${hour("stop")}\n</section>`;
  });
  return `${title}\n<div class="keys">\n${items.join("\n")}\n</div>`;
}

function hourHtml(
  id: string,
  operation: string,
  times: readonly number[],
  limit: number,
  now: number,
): string {
  if (!Number.isFinite(limit)) return `<p class="hour"><b>${operation}</b> no limit, not counted</p>`;
  const next = nextSlot(times, limit, now);
  const used = `<b>${operation}</b> ${times.length} of ${limit} in the last hour`;
  const slot = next <= now ? "next free slot: now" : `next free slot: ${nextHtml(id, next, now)}`;
  return `<p class="hour">${used} · ${slot}</p>\n${hourSvg(times, now, `When each ${operation} counted`)}`;
}

function nextHtml(id: string, next: number, now: number): string {
  if (!Number.isFinite(next)) return "never";
  return `in ${ticking(`next-${id}`, formatDuration(next - now + 999))}, ${timeHtml(next)}`;
}

import { escapeHtml } from "../../../markdown/html/blocks.js";
import { type HourlyLimit, nextSlot } from "../../../protocol/limits.js";
import { formatDuration } from "../../../text/duration.js";
import { COST_DAYS, type HourlyCount, type KeyCost } from "../../conversations/conversation-store.js";
import { isValid, type ServiceKey } from "../../keys/key-store.js";
import { ticking } from "../parts.js";
import { hourSvg } from "./drawing.js";
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

/** What each key has cost; empty if nothing is known to have cost anything. */
export function costsHtml(costs: readonly KeyCost[], names: ReadonlyMap<string, string>): string {
  if (costs.length === 0) return "";
  const dearest = costs.toSorted((a, b) => b.dollars - a.dollars);
  const items = dearest.map(({ keyId, dollars, conversations }) => {
    const said = `${conversations} ${conversations === 1 ? "conversation" : "conversations"}`;
    const name = names.get(keyId) ?? "The one key";
    return `<li><b>$${dollars.toFixed(2)}</b> ${escapeHtml(name)} <span class="soft">in ${said} whose cost is known</span></li>`;
  });
  return `<h2>Cost of each key in the last ${COST_DAYS} days</h2>\n<ul class="costs">\n${items.join("\n")}\n</ul>`;
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

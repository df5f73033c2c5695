import { escapeHtml } from "../../../core/markdown/html/render-blocks.js";
import type { HourlyLimit } from "../../../core/protocol/rate-limits.js";
import { formatDollars } from "../../../core/text/describe-progress.js";
import { formatCount } from "../../../core/text/format-text.js";
import { formatDuration, formatExactDuration } from "../../../core/text/time-format.js";
import {
  type HourUse,
  type KeyUse,
  SPENT_MS,
  type SpentSum,
} from "../../conversations/conversation-store.js";
import { isKeyValid, type KeyBudgets, type ServiceKey } from "../../keys/key-store.js";
import { renderElapsedTime } from "../live-updates.js";
import { renderTimestamp, type ViewParts } from "./shared-parts.js";

/** A valid key as the page shows it. Only the name is meant for people. */
type ShownKey = Pick<ServiceKey, "id" | "name" | "tier" | "limits" | "budgets">;

/** Maps the ids of added keys, including revoked ones, to their names; empty if no key was added. */
export function listKeyNames(added: readonly ServiceKey[]): ReadonlyMap<string, string> {
  return new Map(
    added.map(({ id, name, revokedAt }) => [id, revokedAt === undefined ? name : `${name} (revoked)`]),
  );
}

/** Returns the keys that are valid at `now` (epoch ms): the added ones, or the single key if none was added. */
export function listShownKeys(
  added: readonly ServiceKey[],
  single: ViewParts["single"],
  now: number,
): ShownKey[] {
  if (added.length > 0) return added.filter((key) => isKeyValid(key, now));
  return single ? [{ ...single, name: "The one key" }] : [];
}

/** Renders how much each key with limits has used, and when its next request is allowed. */
export function renderKeyUse(
  keys: readonly ShownKey[],
  { at, uses }: { at: number; uses: readonly KeyUse[] },
): string {
  const title = "<h2>Limits of each key</h2>";
  if (keys.length === 0) return `${title}\n<p class="none">No key is valid.</p>`;
  const items = keys.flatMap(({ id, name, tier, limits, budgets = {} }) => {
    const use = uses.find(({ keyId }) => keyId === id);
    const hasLimit = Object.values(limits).some(Number.isFinite);
    if (!use || (!hasLimit && Object.values(budgets).every((budget) => budget === undefined))) return [];
    const renderHour = (operation: keyof HourlyLimit) =>
      renderHourBar(`${operation}-${escapeHtml(id)}`, operation, use[operation], limits[operation], at);
    const heading = `<h3>${escapeHtml(name)} <span class="tier">${escapeHtml(tier)}</span></h3>`;
    return `<section class="key">${heading}\n${renderHour("create")}\n${renderHour("stop")}${renderBudget(`budget-${escapeHtml(id)}`, budgets, use, at)}\n</section>`;
  });
  return items.length === 0 ? "" : `${title}\n<div class="keys">\n${items.join("\n")}\n</div>`;
}

/** Renders what each key has spent; empty if no cost is known. */
export function renderKeySpending(spent: readonly SpentSum[], names: ReadonlyMap<string, string>): string {
  if (
    !spent.some(({ withDollars, inputTokens, outputTokens }) => withDollars + inputTokens + outputTokens > 0)
  )
    return "";
  const dearest = spent.toSorted((a, b) => b.dollars - a.dollars);
  const items = dearest.map((spentByKey) => {
    const { name, completed, failed, stopped, dollars, withDollars, inputTokens, outputTokens, unreported } =
      spentByKey;
    const tokens = inputTokens + outputTokens;
    const phrases = [
      withDollars > 0 && `in ${formatCount(withDollars, "conversation")} whose cost is known`,
      tokens > 0 && formatCount(tokens, "token"),
      `${completed} COMPLETED, ${failed} FAILED, ${stopped} STOPPED`,
      unreported > 0 && `cost of ${unreported} not reported`,
    ];
    const of = escapeHtml(names.get(name) ?? "The one key");
    return `<li><b>$${dollars.toFixed(2)}</b> ${of} <span class="soft">${phrases.filter(Boolean).join(" · ")}</span></li>`;
  });
  return `<h2>Spent by each key in the last ${formatExactDuration(SPENT_MS)}</h2>\n<ul class="costs">\n${items.join("\n")}\n</ul>`;
}

/** Renders how much of a key's budgets is used. */
function renderBudget(id: string, { budget, dollars, atOnce }: KeyBudgets, use: KeyUse, now: number): string {
  const { created, spent, reserved, running, nextAt } = use;
  const words = [
    budget && `${created} of ${budget.most} creates in ${formatExactDuration(budget.ms)}`,
    dollars &&
      `${formatDollars(spent)} of ${formatDollars(dollars.most)} in ${formatExactDuration(dollars.ms)}, ${formatDollars(reserved)} reserved`,
    atOnce && `${running} of ${atOnce} at once`,
  ].filter(Boolean);
  if (words.length === 0) return "";
  const next = nextAt === undefined ? "" : ` · next create: ${renderNextAllowed(id, nextAt, now)}`;
  return `\n<p class="hour"><b>budget</b> ${words.join(" · ")}${next}</p>`;
}

function renderHourBar(
  id: string,
  operation: string,
  { used, nextAt }: HourUse,
  limit: number,
  now: number,
): string {
  if (!Number.isFinite(limit)) return `<p class="hour"><b>${operation}</b> no limit</p>`;
  const slot = nextAt === undefined ? "" : ` · next free slot: ${renderNextAllowed(id, nextAt, now)}`;
  return `<p class="hour"><b>${operation}</b> ${used} of ${limit} in the last hour${slot}</p>`;
}

function renderNextAllowed(id: string, next: number, now: number): string {
  if (!Number.isFinite(next)) return "never";
  return `in ${renderElapsedTime(`next-${id}`, formatDuration(next - now + 999))}, ${renderTimestamp(next)}`;
}

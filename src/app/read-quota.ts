import type { History } from "../client/store/history/history.js";
import { type HistoryEntry, hashApiKey } from "../client/store/history/history-records.js";
import type { WindowUsage } from "../client/store/history/window-usage.js";
import { getApiKey } from "../client/workflows/account-fallback.js";
import type { Clock } from "../core/clock.js";
import { LocalError } from "../core/files/local-error.js";
import { DAY_MS } from "../core/protocol/rate-limits.js";
import { formatDollars } from "../core/text/describe-progress.js";
import { formatCount } from "../core/text/format-text.js";
import type { LimitOptions, ProfileAccount } from "./profile-account.js";
import { DEFAULT_PROFILE, parseOrigin, requireConnection } from "./resolve-settings.js";

const COUNTED = { counted_from: "this machine's own records" } as const;
const NO_LIMIT = { left: null, next_slot_at: null, limit: null };

/** Returns how many of `limit` create calls are used and left, and when the next one is allowed. */
function countCreates({ attempts, nextAt }: WindowUsage, limit: number) {
  const used = attempts.length;
  return { used, left: Math.max(0, limit - used), limit, next_slot_at: new Date(nextAt).toISOString() };
}

function requireHistory({ history }: ProfileAccount): History {
  if (!history)
    throw new LocalError("create requests are not counted, because the history is off on this machine");
  return history;
}

/** The hour of one account, its day if `per-day` is set, and its costs. */
export type AccountQuota = ReturnType<typeof readQuota>;

/**
 * Reads the quota of the account in use, by this machine's own records; fields are null without a limit. Throws CodedError
 * for a missing setting, and LocalError if the history is off.
 */
export function readQuota(account: ProfileAccount, options: LimitOptions) {
  const { settings, perDay, clock } = account;
  const { origin, apiKey } = requireConnection(settings);
  const limit = account.getHourlyLimit(options) ?? Number.POSITIVE_INFINITY;
  const isLimited = limit !== Number.POSITIVE_INFINITY;
  const history = requireHistory(account);
  const hour = countCreates(history.countHour(account, isLimited ? limit : 1), limit);
  return {
    ...{ ...hour, ...(!isLimited && NO_LIMIT), origin, profile: settings.profile.value, ...COUNTED },
    day: perDay ? countCreates(history.countDay(account, perDay.value), perDay.value) : null,
    spent: readAccountCosts(history, { origin, key_id: hashApiKey(apiKey) }, clock),
  };
}

/** Minimum number of known costs for an estimate, and the number of newest costs that an estimate uses at most. */
const [FEWEST_COSTS, MOST_COSTS] = [10, 20];

/** Estimates the cost of create calls from the median of the last ones with the same model. Returns a line for each model with enough known costs. */
export function estimateCreateCost(
  asked: readonly { account: ProfileAccount; model: string | undefined }[],
): string {
  const groups = new Map<string, typeof asked>();
  for (const request of asked) {
    const name = JSON.stringify([request.account.settings.profile.value, request.model]);
    groups.set(name, [...(groups.get(name) ?? []), request]);
  }
  const lines = [...groups.values()].map(([first, ...others]) => {
    const { account, model } = first as (typeof asked)[number];
    const origin = parseOrigin(account.settings.baseUrl?.value);
    const isComparable = (entry: HistoryEntry) =>
      entry.origin === origin && entry.model === model && entry.cost_dollars !== undefined;
    const entries = account.history?.list({ limit: MOST_COSTS, accepts: isComparable }) ?? [];
    if (entries.length < FEWEST_COSTS) return "";
    const costs = entries.flatMap(({ cost_dollars }) => cost_dollars ?? []).sort((a, b) => a - b);
    const middle = costs.length / 2;
    const median = ((costs[Math.ceil(middle) - 1] ?? 0) + (costs[Math.floor(middle)] ?? 0)) / 2;
    const count = others.length + 1;
    return `about ${formatDollars(median * count)}: ${formatCount(count, "row")} at the median of your last ${costs.length} with this model${groups.size > 1 ? ` (${model})` : ""}\n`;
  });
  return lines.join("");
}

/** Lists the quota of each origin and key in the history, newest first. Needs no settings. Throws LocalError if the history is off. */
export function listQuotas(account: ProfileAccount): AccountQuota[] {
  const { clock } = account;
  const history = requireHistory(account);
  const seen = new Map<string, HistoryEntry>();
  for (const entry of history.list({ limit: Number.POSITIVE_INFINITY })) {
    const name = `${entry.origin} ${entry.key_id}`;
    if (!seen.has(name)) seen.set(name, entry);
  }
  return [...seen.values()].map((entry) => {
    const owner = findAccountOfKey(account, entry);
    if (owner) return readQuota(owner, {});
    const { origin, profile } = entry;
    return {
      ...{ used: history.countHourly(entry), ...NO_LIMIT },
      ...{ origin, profile: profile ?? DEFAULT_PROFILE, ...COUNTED },
      ...{ day: null, spent: readAccountCosts(history, entry, clock) },
    };
  });
}

/** Finds the account whose key created the request: the one in use, or that of the recorded profile. */
function findAccountOfKey(account: ProfileAccount, entry: HistoryEntry): ProfileAccount | undefined {
  const recorded = account.findAccountNamed(entry.profile ?? DEFAULT_PROFILE);
  return [account, recorded].find(
    (owner) =>
      owner !== undefined &&
      parseOrigin(owner.settings.baseUrl?.value) === entry.origin &&
      hashApiKey(getApiKey(owner) ?? "") === entry.key_id,
  );
}

const DAY_WINDOWS = { "24h": 1, "7d": 7, "30d": 30 } as const;

function readAccountCosts(history: History, key: Pick<HistoryEntry, "origin" | "key_id">, clock: Clock) {
  return Object.entries(DAY_WINDOWS).map(([since, days]) => ({
    since,
    ...history.sumAccountCosts(key, clock.now() - days * DAY_MS),
  }));
}

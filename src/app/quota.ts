import type { History } from "../client/store/history/history.js";
import type { HourlyUsage } from "../client/store/history/hour.js";
import { type HistoryEntry, keyId } from "../client/store/history/records.js";
import { keyOf } from "../client/workflows/first-account.js";
import type { Clock } from "../core/clock.js";
import { LocalError } from "../core/files/local-error.js";
import { DAY_MS } from "../core/protocol/limits.js";
import { counted } from "../core/text/phrases.js";
import { dollars } from "../core/text/research-progress.js";
import type { LimitOptions, Machine } from "./machine.js";
import { DEFAULT_PROFILE, originOf, requireConnection } from "./settings.js";

const COUNTED = { counted_from: "this machine's own records" } as const;
const NO_LIMIT = { left: null, next_slot_at: null, limit: null };

/** What is used up and left of `limit` creates, and when the next one is allowed. */
function countsOf({ attempts, nextAt }: HourlyUsage, limit: number) {
  const used = attempts.length;
  return { used, left: Math.max(0, limit - used), limit, next_slot_at: new Date(nextAt).toISOString() };
}

function historyOf({ history }: Machine): History {
  if (!history) throw new LocalError("nothing is counted, since no history is kept on this machine");
  return history;
}

/** Where one key stands in its hour, by this machine's own records, as a program reads it; null where no limit is set. */
export type Quota = ReturnType<typeof quotaOf>;

/** The hour of the origin and key in use. Throws CodedError for a missing setting, LocalError if no history is kept. */
export function quotaOf(machine: Machine, options: LimitOptions) {
  const { settings } = machine;
  const { origin } = requireConnection(settings);
  const limit = machine.hourlyLimit(options) ?? Number.POSITIVE_INFINITY;
  const isLimited = limit !== Number.POSITIVE_INFINITY;
  const hour = countsOf(historyOf(machine).hour(machine, isLimited ? limit : 1), limit);
  return { ...hour, ...(!isLimited && NO_LIMIT), origin, profile: settings.profile.value, ...COUNTED };
}

/** One account's hour, its day under `per-day`, and what it spent. `--all` names those that no profile has any more, too. */
export type AccountQuota = ReturnType<typeof accountQuota>;

/** The account in use. Throws as `quotaOf`. */
export function accountQuota(machine: Machine, options: LimitOptions) {
  const quota = quotaOf(machine, options);
  const { perDay, origin, apiKey, clock } = machine;
  const history = historyOf(machine);
  return {
    ...quota,
    day: perDay ? countsOf(history.day(machine, perDay.value), perDay.value) : null,
    spent: spentOf(history, { origin, key_id: keyId(apiKey) }, clock),
  };
}

/** So many costs have to be known before anything is said of the next, and so many of the newest are looked at. */
const [FEWEST_COSTS, MOST_COSTS] = [10, 20];

/** What the next creates cost by the median of the last ones with their model, a line each; empty where few are known. */
export function costEstimate(asked: readonly { ports: Machine; model: string | undefined }[]): string {
  const groups = new Map<string, typeof asked>();
  for (const one of asked) {
    const name = JSON.stringify([one.ports.settings.profile.value, one.model]);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  const lines = [...groups.values()].map(([first, ...others]) => {
    const { ports, model } = first as (typeof asked)[number];
    const origin = originOf(ports.settings.baseUrl?.value);
    const accepts = (entry: HistoryEntry) =>
      entry.origin === origin && entry.model === model && entry.cost_dollars !== undefined;
    const known = ports.history?.list({ limit: MOST_COSTS, accepts }) ?? [];
    if (known.length < FEWEST_COSTS) return "";
    const costs = known.flatMap(({ cost_dollars }) => cost_dollars ?? []).sort((a, b) => a - b);
    const middle = costs.length / 2;
    const median = ((costs[Math.ceil(middle) - 1] ?? 0) + (costs[Math.floor(middle)] ?? 0)) / 2;
    const count = others.length + 1;
    return `about ${dollars(median * count)}: ${counted(count, "row")} at the median of your last ${costs.length} with this model${groups.size > 1 ? ` (${model})` : ""}\n`;
  });
  return lines.join("");
}

/** Each origin and key in the history, the newest first. Needs no settings. Throws LocalError if no history is kept. */
export function allQuotas(machine: Machine): AccountQuota[] {
  const { clock } = machine;
  const history = historyOf(machine);
  const seen = new Map<string, HistoryEntry>();
  for (const entry of history.list({ limit: Number.POSITIVE_INFINITY })) {
    const name = `${entry.origin} ${entry.key_id}`;
    if (!seen.has(name)) seen.set(name, entry);
  }
  return [...seen.values()].map((entry) => {
    const account = ownerOf(machine, entry);
    if (account) return accountQuota(account, {});
    const { origin, profile } = entry;
    return {
      ...{ used: history.hourlyCount(entry), ...NO_LIMIT },
      ...{ origin, profile: profile ?? DEFAULT_PROFILE, ...COUNTED },
      ...{ day: null, spent: spentOf(history, entry, clock) },
    };
  });
}

/** The account in use, or that of the recorded profile, if its key is the one that made the request. */
function ownerOf(machine: Machine, entry: HistoryEntry): Machine | undefined {
  const recorded = machine.accountNamed(entry.profile ?? DEFAULT_PROFILE);
  const isIts = (account: Machine | undefined) =>
    originOf(account?.settings.baseUrl?.value) === entry.origin &&
    account !== undefined &&
    keyId(keyOf(account) ?? "") === entry.key_id;
  return [machine, recorded].find(isIts);
}

const DAY_WINDOWS = { "24h": 1, "7d": 7, "30d": 30 } as const;

function spentOf(history: History, key: Pick<HistoryEntry, "origin" | "key_id">, clock: Clock) {
  return Object.entries(DAY_WINDOWS).map(([since, days]) => ({
    since,
    ...history.spent(key, clock.now() - days * DAY_MS),
  }));
}

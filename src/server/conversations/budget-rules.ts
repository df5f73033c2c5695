import type { KeyBudgets } from "../keys/key-store.js";
import type { CreateResult, KeyFigures, KeyUse, LimitedKey, RateLimited } from "./conversation-store.js";

const HOUR_MS = 3_600_000;
/** Windows of at least this length (ms) move by whole hours instead of continuously. */
const LONG_MS = 86_400_000;
/** Maximum number of a key's conversations that may wait while no cost is known. */
const MOST_UNPRICED = 10;
/** Number of conversations without a reported cost after which a key can neither create nor begin more, until a cost is known. */
export const UNPRICED_ENDS = 3;
/** The `Retry-After` while unfinished conversations reserve the whole budget of dollars, in ms. */
export const RESERVED_MS = 60_000;

/** Returns the start of the hour that contains a time. Both are epoch ms. */
export const floorToHour = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS;

/** Returns when an event at `at` no longer counts in the window. Both are epoch ms. */
export function computeWindowExit(at: number, windowMs: number): number {
  return (windowMs < LONG_MS ? at : floorToHour(at) + HOUR_MS) + windowMs;
}

/** Returns when a wait of `ms` that began at `at` ends, in whole seconds because `at` was read a moment apart. All are epoch ms or ms. */
const computeWaitEnd = (at: number, ms: number) => Math.round((at + ms) / 1_000) * 1_000;

/** Converts dollars to billionths, because sums of fractions would miss an exact limit. */
export const toUnits = (dollars: number) => Math.round(dollars * 1e9);

/** Returns why no waiting conversation of the key may begin; undefined if one may. `research.may_begin` (1.sql) has the same rules. */
export function explainKeyWait({ atOnce, dollars }: KeyBudgets, figures: KeyFigures) {
  const { spent, reservedByRunning, isMeasured, price, running } = figures;
  if (atOnce !== undefined && running >= atOnce) return "at-once";
  if (dollars === undefined) return undefined;
  if (!isMeasured) return "not-measured";
  const isSpent = toUnits(spent) + toUnits(reservedByRunning) >= toUnits(dollars.most);
  return isSpent || (price === undefined && running > 0) ? "budget" : undefined;
}

/** Returns the limit that blocks the key's next create call longest; undefined if none does. `research.room` (1.sql) has the same rules. */
export function findBudgetRefusal(
  { budget, dollars }: KeyBudgets,
  figures: KeyFigures,
): Exclude<CreateResult, { kind: "created" }> | undefined {
  const { created, createdFreeMs = 0, waiting, isMeasured } = figures;
  const { spent, spentFreeMs = RESERVED_MS, reserved, price } = figures;
  if (dollars && !isMeasured) return { kind: "not-measured" };
  const limits: RateLimited[] = [];
  const refuse = (retryAfterMs: number, over: NonNullable<RateLimited["over"]>) =>
    limits.push({ kind: "rate-limited", retryAfterMs, over });
  if (budget && created >= budget.most) refuse(createdFreeMs, { what: "budget", ...budget });
  const isFull = price === undefined && waiting >= MOST_UNPRICED;
  if (dollars && (isFull || toUnits(spent) + toUnits(reserved) >= toUnits(dollars.most)))
    refuse(spentFreeMs, { what: "dollars", ...dollars, spent, reserved, price });
  return limits.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs)[0];
}

/** Combines what is used of a key's hourly limits and budgets at `at` (epoch ms). */
export function computeKeyUse(
  { id: keyId, budgets = {} }: LimitedKey,
  { at, hours, figures }: { at: number; hours: Pick<KeyUse, "create" | "stop">; figures: KeyFigures },
): KeyUse {
  const refusal = findBudgetRefusal(budgets, figures);
  const budgetAt = refusal?.kind === "rate-limited" ? computeWaitEnd(at, refusal.retryAfterMs) : 0;
  return { ...figures, keyId, ...hours, nextAt: Math.max(hours.create.nextAt ?? 0, budgetAt) || undefined };
}

/** Describes as JSON text which place a conversation has in the queue and why it waits. `closedMs`: ms until the upstream takes create calls. */
export function formatQueueProgress(
  place: { done: number; of?: number | undefined },
  why: { budgets: KeyBudgets; figures: KeyFigures; closedMs: number; now: number },
): string {
  const { budgets, figures, closedMs, now } = why;
  const block = explainKeyWait(budgets, figures);
  const ms = block === "budget" ? figures.spentFreeMs : block ? undefined : closedMs;
  const reason = block ?? (closedMs > 0 ? "upstream" : undefined);
  const until = ms && ms > 0 ? new Date(computeWaitEnd(now, ms)).toISOString() : undefined;
  return JSON.stringify({ step: "queue", ...place, reason, until });
}

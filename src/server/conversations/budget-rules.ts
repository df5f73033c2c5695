import type { KeyBudgets } from "../keys/key-store.js";
import type {
  CreateResult,
  KeyFigures,
  KeyUse,
  Leaving,
  LeavingOf,
  LimitedKey,
  RateLimited,
} from "./conversation-store.js";

const HOUR_MS = 3_600_000;
/** A window of this length or more moves by whole hours, ms. */
const LONG_MS = 86_400_000;
/** How many may wait while no cost is known. */
const MOST_UNPRICED = 10;
/** After so many that did not say their cost nothing is created and begun, as long as none is known. */
export const UNPRICED_ENDS = 3;
/** How long to wait for the end of what a budget of dollars is reserved for, ms. */
export const RESERVED_MS = 60_000;

/** The beginning of an hour, of a moment in it, in epoch ms. */
export const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS;

/** When what happened at `at` leaves a window, both in epoch ms. */
export function leavesAt(at: number, windowMs: number): number {
  return (windowMs < LONG_MS ? at : hourOf(at) + HOUR_MS) + windowMs;
}

/** Dollars in billionths: sums of fractions would miss the number that they reach. */
export const unitsOf = (dollars: number) => Math.round(dollars * 1e9);

/** What keeps a conversation that waits from beginning. */
export type BeginBlock = "at-once" | "budget" | "not-measured";

/** Why no conversation of a key that waits may begin; undefined if one may. `research.may_begin` (1.sql) has the same rules. */
export function beginBlock(budgets: KeyBudgets, figures: KeyFigures): BeginBlock | undefined {
  const { atOnce = Number.POSITIVE_INFINITY, dollars } = budgets;
  const { said, begun, isMeasured, price, running } = figures;
  if (running >= atOnce) return "at-once";
  if (dollars === undefined) return undefined;
  if (!isMeasured) return "not-measured";
  const isSpent = unitsOf(said) + unitsOf(begun) >= unitsOf(dollars.most);
  return isSpent || (price === undefined && running > 0) ? "budget" : undefined;
}

/** Why a key may create nothing: the limit that keeps it waiting longest. Undefined if it may. `research.room` has the same rules. */
export function createRefusal(
  { budget, dollars }: KeyBudgets,
  figures: KeyFigures,
  leaving: LeavingOf,
): Exclude<CreateResult, { kind: "created" }> | undefined {
  const { created, said, reserved, price, waiting, isMeasured } = figures;
  if (dollars && !isMeasured) return { kind: "not-measured" };
  const limits: RateLimited[] = [];
  if (budget && created >= budget.most) {
    const retryAfterMs = freeMs(leaving(budget.ms), (one) => one.created, created - budget.most);
    limits.push({ kind: "rate-limited", retryAfterMs, over: { what: "budget", ...budget } });
  }
  const isFull = price === undefined && waiting >= MOST_UNPRICED;
  if (dollars && (isFull || unitsOf(said) + unitsOf(reserved) >= unitsOf(dollars.most))) {
    const retryAfterMs = dollarsFreeMs({ dollars }, figures, leaving) ?? RESERVED_MS;
    limits.push({
      kind: "rate-limited",
      retryAfterMs,
      over: { what: "dollars", ...dollars, said, reserved, price },
    });
  }
  return limits.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs)[0];
}

/** In how many ms what was said is less than the dollars; undefined if it is, and what runs has to end. */
export function dollarsFreeMs(
  { dollars }: KeyBudgets,
  { said }: KeyFigures,
  leaving: LeavingOf,
): number | undefined {
  const over = unitsOf(said) - unitsOf(dollars?.most ?? Number.POSITIVE_INFINITY);
  return dollars && over >= 0 ? freeMs(leaving(dollars.ms), (one) => unitsOf(one.dollars), over) : undefined;
}

/** In how many ms more than `over` has left a window. */
function freeMs(leaving: readonly Leaving[], amountOf: (one: Leaving) => number, over: number): number {
  let left = 0;
  const sorted = leaving.toSorted((a, b) => a.ms - b.ms);
  return (sorted.find((one) => (left += amountOf(one)) > over) ?? sorted.at(-1))?.ms ?? RESERVED_MS;
}

/** What a key has used of its limits at `at` (epoch ms). */
export function useOf(
  { id: keyId, budgets = {} }: LimitedKey,
  { at, hours, figures }: { at: number; hours: Pick<KeyUse, "create" | "stop">; figures: KeyFigures },
  leaving: LeavingOf,
): KeyUse {
  const refusal = createRefusal(budgets, figures, leaving);
  const budgetAt = refusal?.kind === "rate-limited" ? at + refusal.retryAfterMs : 0;
  return { ...figures, keyId, ...hours, nextAt: Math.max(hours.create.nextAt ?? 0, budgetAt) || undefined };
}

/** Where a conversation stands that waits and why it does, as JSON text. `closedMs`: for how long another service takes none. */
export function queueProgress(
  place: { done: number; of?: number | undefined },
  budgets: KeyBudgets,
  {
    figures,
    leaving,
    closedMs,
    now,
  }: { figures: KeyFigures; leaving: LeavingOf; closedMs: number; now: number },
): string {
  const reason = beginBlock(budgets, figures) ?? (closedMs > 0 ? "upstream" : undefined);
  const ms = reason === "budget" ? dollarsFreeMs(budgets, figures, leaving) : closedMs;
  const until =
    (reason === "budget" || reason === "upstream") && ms ? new Date(now + ms).toISOString() : undefined;
  return JSON.stringify({ step: "queue", ...place, reason, until });
}

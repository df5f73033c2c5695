import type { KeyBudgets, Rate } from "../keys/key-store.js";
import type { CreateResult, KeyUse, LimitedKey, RateLimited } from "./conversation-store.js";

/**
 * What counts against the limits of a key at one moment. `running` and `waiting` count conversations, all else but `created` is
 * dollars.
 */
export interface KeyFigures {
  /** Creates in the window of its budget. */
  created: number;
  /** What conversations said that ended in the window of its dollars. */
  said: number;
  /** What has not ended, at the highest cost known of its model. */
  reserved: number;
  /** Of that, what runs. */
  begun: number;
  running: number;
  waiting: number;
  /** The highest cost known of the model that the next one is going to have; undefined while none is known. */
  price: number | undefined;
  /** False: what does the research does not say what it costs. */
  isMeasured: boolean;
}

/** What stops counting in a window together, and in how many ms. */
export interface Leaving {
  ms: number;
  created: number;
  dollars: number;
}

const HOUR_MS = 3_600_000;
/** A window of this length or more moves by whole hours: it is counted by the sums of its hours. */
export const LONG_WINDOW_MS = 86_400_000;
/** How many may wait while no cost is known, and after how many that said none nothing is created any more. */
const MOST_UNPRICED = 10;
export const UNPRICED_ENDS = 3;
/** How long to wait for the end of what a budget of dollars is reserved for, ms. */
export const RESERVED_MS = 60_000;

/** The beginning of the hour, in epoch ms, that a moment (epoch ms) is in. */
export function hourOf(at: number): number {
  return at - (at % HOUR_MS);
}

/** When what happened at a moment, or in its hour, leaves a window, all in epoch ms; shorter windows count by the moment. */
export function leavesAt(at: number, windowMs: number, isByHour = windowMs >= LONG_WINDOW_MS): number {
  return (isByHour ? hourOf(at) + HOUR_MS : at) + windowMs;
}

/** Dollars in billionths: sums of fractions would miss the number that they reach. */
export const unitsOf = (dollars: number) => Math.round(dollars * 1e9);

const isSpent = ({ said }: KeyFigures, reserved: number, most: number) =>
  unitsOf(said) + unitsOf(reserved) >= unitsOf(most);

/** Which limits refuse the next create of a key. `research.room` (1.sql) has the same rules. */
export function createBlocks(
  { budget, dollars }: KeyBudgets,
  figures: KeyFigures,
): ("budget" | "dollars" | "not-measured")[] {
  if (dollars && !figures.isMeasured) return ["not-measured"];
  const { created, reserved, price, waiting } = figures;
  const isFull = price === undefined && waiting >= MOST_UNPRICED;
  return [
    ...(budget && created >= budget.most ? (["budget"] as const) : []),
    ...(dollars && (isFull || isSpent(figures, reserved, dollars.most)) ? (["dollars"] as const) : []),
  ];
}

/** What keeps a conversation that waits from beginning. */
export type BeginBlock = "at-once" | "budget" | "not-measured";

/** Why no conversation of a key that waits may begin; undefined if one may. `research.may_begin` (1.sql) has the same rules. */
export function beginBlock({ atOnce, dollars }: KeyBudgets, figures: KeyFigures): BeginBlock | undefined {
  const { begun, isMeasured, price, running } = figures;
  if (atOnce !== undefined && running >= atOnce) return "at-once";
  if (dollars === undefined) return undefined;
  if (!isMeasured) return "not-measured";
  return isSpent(figures, begun, dollars.most) || (price === undefined && running > 0) ? "budget" : undefined;
}

/** In how many ms what was said is less than the dollars; undefined if it is, and what runs has to end. */
export function dollarsFreeMs(
  dollars: Rate | undefined,
  { said }: KeyFigures,
  leaving: (windowMs: number) => readonly Leaving[],
): number | undefined {
  if (dollars === undefined || unitsOf(said) < unitsOf(dollars.most)) return undefined;
  return freeMs(leaving(dollars.ms), (one) => unitsOf(one.dollars), unitsOf(said), unitsOf(dollars.most));
}

/** Why a key may create nothing: the limit that keeps it waiting longest. Undefined if it may. `leaving`: of a window of this key. */
export function createRefusal(
  budgets: KeyBudgets,
  figures: KeyFigures,
  leaving: (windowMs: number) => readonly Leaving[],
): Exclude<CreateResult, { kind: "created" }> | undefined {
  const { budget, dollars } = budgets;
  const { created, said, reserved, price } = figures;
  const blocks = createBlocks(budgets, figures);
  if (blocks.includes("not-measured")) return { kind: "not-measured" };
  const limits: RateLimited[] = [];
  if (budget && blocks.includes("budget")) {
    const retryAfterMs = freeMs(leaving(budget.ms), (one) => one.created, created, budget.most);
    limits.push({ kind: "rate-limited", retryAfterMs, over: { what: "budget", ...budget } });
  }
  if (dollars && blocks.includes("dollars")) {
    const retryAfterMs = dollarsFreeMs(dollars, figures, leaving) ?? RESERVED_MS;
    const over = { what: "dollars", ...dollars, said, reserved, price } as const;
    limits.push({ kind: "rate-limited", retryAfterMs, over });
  }
  return longest(limits);
}

/** What a key has used of its limits at `at` (epoch ms). */
export function useOf(
  { id: keyId, budgets = {} }: LimitedKey,
  { at, hours, figures }: { at: number; hours: Pick<KeyUse, "create" | "stop">; figures: KeyFigures },
  leaving: (windowMs: number) => readonly Leaving[],
): KeyUse {
  const refusal = createRefusal(budgets, figures, leaving);
  const budgetAt = refusal?.kind === "rate-limited" ? at + refusal.retryAfterMs : 0;
  const { created, said, reserved, running } = figures;
  const nextAt = Math.max(hours.create.nextAt ?? 0, budgetAt) || undefined;
  return { keyId, ...hours, created, said, reserved, running, nextAt };
}

/** Of several limits, the one that keeps a key waiting longest. */
export function longest(limits: readonly RateLimited[]): RateLimited | undefined {
  return limits.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs)[0];
}

/** In how many ms so much has left a window that less than `most` of `total` counts in it. */
function freeMs(
  leaving: readonly Leaving[],
  amountOf: (one: Leaving) => number,
  total: number,
  most: number,
): number {
  let left = total;
  const sorted = leaving.toSorted((a, b) => a.ms - b.ms);
  const last = sorted.find((one) => {
    left -= amountOf(one);
    return left < most;
  });
  return (last ?? sorted.at(-1))?.ms ?? RESERVED_MS;
}

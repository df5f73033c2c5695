import { isFinal } from "../../../core/protocol/conversation.js";
import type { ResearcherFacts } from "../../../core/researcher.js";
import type { Rate } from "../../keys/key-store.js";
import { computeWindowExit, floorToHour, toUnits, UNPRICED_ENDS } from "../budget-rules.js";
import type { KeyFigures, LimitedKey, SpentBy, SpentSum } from "../conversation-store.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** Sums the amounts in a window that ends at `now`. `freeMs`: ms until there is room again, if the limit is reached. */
function sumWindow(window: Rate | undefined, now: number, all: readonly { at: number; amount: number }[]) {
  if (window === undefined) return { count: 0 };
  const leaving = all.map(({ at, amount }) => ({ ms: computeWindowExit(at, window.ms) - now, amount }));
  const counted = leaving.filter(({ ms }) => ms > 0).sort((a, b) => a.ms - b.ms);
  const count = counted.reduce((sum, { amount }) => sum + amount, 0);
  let left = count;
  const last = counted.find(({ amount }) => {
    left -= amount;
    return left < window.most;
  });
  return { count, ...(count >= window.most && { freeMs: last?.ms }) };
}

/** Computes what a key has used at `now` (epoch ms). `running`: the key's conversations that have begun. */
export function computeKeyFigures(
  state: LocalState,
  { id, budgets: { budget, dollars } = {} }: Pick<LimitedKey, "id" | "budgets">,
  { now, running, facts }: { now: number; running: readonly StoredConversation[]; facts: ResearcherFacts },
): KeyFigures {
  const { model, saysDollars = true } = facts;
  const rows = state.bills.get(id) ?? [];
  const unwritten = [...state.unwritten].filter(
    (request) => request.operation === "create" && request.key === id,
  );
  const waiting = rows.filter(({ status }) => !isFinal(status)).length + unwritten.length - running.length;
  const price = state.priceOf(model);
  const ofRunning = running.reduce((sum, { bill }) => sum + toUnits(state.priceOf(bill.model) ?? 0), 0);
  const creates = [
    ...rows.map(({ createdAt: at }) => ({ at, amount: 1 })),
    ...unwritten.map(({ at }) => ({ at, amount: 1 })),
  ];
  const created = sumWindow(budget, now, creates);
  const costs = rows.map(({ endedAt: at = 0, bill }) => ({ at, amount: toUnits(bill.dollars ?? 0) }));
  const spent = sumWindow(dollars && { ...dollars, most: toUnits(dollars.most) }, now, costs);
  return {
    ...{ created: created.count, createdFreeMs: created.freeMs },
    ...{ spent: spent.count / 1e9, spentFreeMs: spent.freeMs },
    reserved: (ofRunning + waiting * toUnits(price ?? 0)) / 1e9,
    ...{ reservedByRunning: ofRunning / 1e9, running: running.length, waiting, price },
    isMeasured:
      saysDollars && (price !== undefined || (state.unpriced.get(model ?? "") ?? 0) < UNPRICED_ENDS),
  };
}

/** Sums the cost of conversations that ended since the start of the hour of `since` (epoch ms). */
export function sumSpent({ bills }: LocalState, by: SpentBy, since: number): SpentSum[] {
  const sums = new Map<string, SpentSum>();
  for (const { key, status, endedAt, bill } of [...bills.values()].flat()) {
    if (endedAt === undefined || endedAt < floorToHour(since) || !isFinal(status)) continue;
    const { model = "", dollars, inputTokens, outputTokens } = bill;
    const name = { key, day: new Date(endedAt).toISOString().slice(0, 10), model }[by];
    const sum = sums.get(name) ?? { name, ...NOTHING };
    sum[COLUMNS[status]] += 1;
    sum.dollars = (toUnits(sum.dollars) + toUnits(dollars ?? 0)) / 1e9;
    sum.withDollars += Number(dollars !== undefined);
    sum.inputTokens += inputTokens ?? 0;
    sum.outputTokens += outputTokens ?? 0;
    sum.unreported += Number((dollars ?? inputTokens ?? outputTokens) === undefined);
    sums.set(name, sum);
  }
  return [...sums.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const COLUMNS = { COMPLETED: "completed", FAILED: "failed", STOPPED: "stopped" } as const;
const NOTHING = {
  ...{ completed: 0, failed: 0, stopped: 0, dollars: 0, withDollars: 0 },
  ...{ inputTokens: 0, outputTokens: 0, unreported: 0 },
};

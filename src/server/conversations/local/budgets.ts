import { isFinal } from "../../../core/protocol/conversation.js";
import { nextSlot } from "../../../core/protocol/limits.js";
import type { KeyBudgets } from "../../keys/key-store.js";
import { type RateLimited, RESERVED_MS, type Spent, type SpentBy } from "../conversation-store.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** Amounts of dollars are added in billionths: sums of fractions would miss the number that they reach. */
const UNIT = 1e9;
const units = (dollars: number) => Math.round(dollars * UNIT);

/** What is said and what is reserved of a budget of dollars, in billionths; `own`: the unfinished ones that count. */
function counted(state: LocalState, key: string, since: number, own: readonly StoredConversation[]) {
  const costs = (state.bills.get(key) ?? []).flatMap(({ endedAt: at = 0, bill: { dollars } }) =>
    at > since && dollars ? [{ at, cost: units(dollars) }] : [],
  );
  const said = costs.reduce((sum, { cost }) => sum + cost, 0);
  const reserved = own.reduce((sum, { bill }) => sum + units(state.priceOf(bill.model)), 0);
  return { costs: costs.sort((a, b) => a.at - b.at), said, reserved };
}

/** Why a key may create nothing at `at` (epoch ms), what keeps it waiting longest; undefined if it may. */
export function overBudget(
  state: LocalState,
  { key, at }: { key: string; at: number },
  { budget, dollars }: KeyBudgets,
  model: string | undefined,
): RateLimited | undefined {
  const all = state.bills.get(key) ?? [];
  const unwritten = [...state.unwritten].filter((one) => one.operation === "create" && one.key === key);
  const limits: RateLimited[] = [];
  if (budget) {
    const times = [...all.map(({ createdAt }) => createdAt), ...unwritten.map(({ at }) => at)];
    const retryAfterMs = nextSlot(times, budget.most, at, budget.ms) - at;
    if (retryAfterMs > 0)
      limits.push({ kind: "rate-limited", retryAfterMs, over: { what: "budget", ...budget } });
  }
  if (dollars) {
    const unfinished = all.filter(({ status }) => !isFinal(status));
    const { costs, said, reserved: written } = counted(state, key, at - dollars.ms, unfinished);
    const reserved = written + unwritten.length * units(state.priceOf(model));
    if (said + reserved >= units(dollars.most)) {
      let left = said;
      const last = costs.find(({ cost }) => {
        left -= cost;
        return left < units(dollars.most);
      });
      const isSaid = said >= units(dollars.most);
      const retryAfterMs = isSaid && last ? last.at + dollars.ms - at : RESERVED_MS;
      const over = { what: "dollars", ...dollars, said: said / UNIT, reserved: reserved / UNIT } as const;
      limits.push({ kind: "rate-limited", retryAfterMs, over });
    }
  }
  return limits.sort((a, b) => b.retryAfterMs - a.retryAfterMs)[0];
}

/** Whether one more conversation of a key may begin at `now` (epoch ms), beside those that run. */
export function mayBegin(
  state: LocalState,
  { key, now }: { key: string; now: number },
  { atOnce = Number.POSITIVE_INFINITY, dollars }: KeyBudgets,
  running: readonly StoredConversation[],
): boolean {
  if (running.length >= atOnce) return false;
  if (dollars === undefined) return true;
  const { said, reserved } = counted(state, key, now - dollars.ms, running);
  return said + reserved < units(dollars.most);
}

/** What conversations cost that ended after `since` (epoch ms). */
export function spentIn({ bills }: LocalState, by: SpentBy, since: number): Spent[] {
  const sums = new Map<string, Spent>();
  for (const { key, status, endedAt, bill } of [...bills.values()].flat()) {
    if (endedAt === undefined || endedAt <= since || !isFinal(status)) continue;
    const { model = "", dollars, inputTokens, outputTokens } = bill;
    const name = { key, day: new Date(endedAt).toISOString().slice(0, 10), model }[by];
    const sum = sums.get(name) ?? { name, ...NOTHING };
    sum[COLUMNS[status]] += 1;
    sum.dollars = (units(sum.dollars) + units(dollars ?? 0)) / UNIT;
    sum.priced += Number(dollars !== undefined);
    sum.inputTokens += inputTokens ?? 0;
    sum.outputTokens += outputTokens ?? 0;
    sum.unsaid += Number((dollars ?? inputTokens ?? outputTokens) === undefined);
    sums.set(name, sum);
  }
  return [...sums.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const COLUMNS = { COMPLETED: "completed", FAILED: "failed", STOPPED: "stopped" } as const;
const NOTHING = {
  ...{ completed: 0, failed: 0, stopped: 0, dollars: 0, priced: 0 },
  ...{ inputTokens: 0, outputTokens: 0, unsaid: 0 },
};

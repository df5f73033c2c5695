import { isFinal } from "../../../core/protocol/conversation.js";
import type { ResearchFacts } from "../../../core/researcher.js";
import { hourOf, leavesAt, UNPRICED_ENDS, unitsOf } from "../budget-rules.js";
import type { KeyFigures, Leaving, LimitedKey, Spent, SpentBy } from "../conversation-store.js";
import type { LocalState, StoredConversation } from "./local-state.js";

const unwrittenOf = (state: LocalState, key: string) =>
  [...state.unwritten].filter((one) => one.operation === "create" && one.key === key);

/** What counts in a window of a key that ends at `now` (epoch ms). */
export function leavingOf(state: LocalState, key: string, now: number, windowMs: number): Leaving[] {
  const rows = state.bills.get(key) ?? [];
  const creates = [...rows.map(({ createdAt }) => createdAt), ...unwrittenOf(state, key).map(({ at }) => at)];
  const costs = rows.flatMap(({ endedAt, bill: { dollars = 0 } }) =>
    endedAt ? [{ at: endedAt, dollars }] : [],
  );
  return [...creates.map((at) => ({ at, dollars: 0 })), ...costs].flatMap(({ at, dollars }, n) => {
    const ms = leavesAt(at, windowMs) - now;
    return ms > 0 ? [{ ms, created: Number(n < creates.length), dollars }] : [];
  });
}

/** What counts against the limits of a key at `now` (epoch ms); `running`: its conversations that have begun. */
export function figuresOf(
  state: LocalState,
  { id, budgets: { budget, dollars } = {} }: Pick<LimitedKey, "id" | "budgets">,
  { now, running, facts }: { now: number; running: readonly StoredConversation[]; facts: ResearchFacts },
): KeyFigures {
  const { model, saysDollars = true } = facts;
  const unfinished = (state.bills.get(id) ?? []).filter(({ status }) => !isFinal(status)).length;
  const waiting = unfinished + unwrittenOf(state, id).length - running.length;
  const price = state.priceOf(model);
  const begun = running.reduce((sum, { bill }) => sum + unitsOf(state.priceOf(bill.model) ?? 0), 0);
  const [creates, costs] = [budget, dollars].map((window) =>
    window ? leavingOf(state, id, now, window.ms) : [],
  );
  return {
    created: creates?.reduce((sum, one) => sum + one.created, 0) ?? 0,
    said: (costs?.reduce((sum, one) => sum + unitsOf(one.dollars), 0) ?? 0) / 1e9,
    reserved: (begun + waiting * unitsOf(price ?? 0)) / 1e9,
    ...{ begun: begun / 1e9, running: running.length, waiting, price },
    isMeasured:
      saysDollars && (price !== undefined || (state.unpriced.get(model ?? "") ?? 0) < UNPRICED_ENDS),
  };
}

/** What conversations cost that ended since the hour of `since` (epoch ms) began. */
export function spentIn({ bills }: LocalState, by: SpentBy, since: number): Spent[] {
  const sums = new Map<string, Spent>();
  for (const { key, status, endedAt, bill } of [...bills.values()].flat()) {
    if (endedAt === undefined || endedAt < hourOf(since) || !isFinal(status)) continue;
    const { model = "", dollars, inputTokens, outputTokens } = bill;
    const name = { key, day: new Date(endedAt).toISOString().slice(0, 10), model }[by];
    const sum = sums.get(name) ?? { name, ...NOTHING };
    sum[COLUMNS[status]] += 1;
    sum.dollars = (unitsOf(sum.dollars) + unitsOf(dollars ?? 0)) / 1e9;
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

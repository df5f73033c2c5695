import { createBlocks, type KeyFigures, type Leaving } from "../conversations/budget-rules.js";
import type { LimitedKey } from "../conversations/conversation-store.js";
import { type Database, sql } from "./database.js";

/** key */
const FIGURES = sql("figures")`
  SELECT created::float8, said::float8, reserved::float8, begun::float8, running::int, waiting::int, price::float8,
    is_measured AS "isMeasured"
  FROM research.figures($1)`;

/** key, windows in ms: the first that leave them. */
const LEAVING = sql("leaving")`
  SELECT of_window, extract(epoch FROM leaves - clock_timestamp())::float8 * 1000 AS ms, created::float8, dollars::float8
  FROM unnest($2::float8[]) AS of_window, LATERAL (
    SELECT * FROM research.counted($1, of_window) ORDER BY leaves LIMIT 1000
  ) AS leaving`;

/** What counts against the limits of a key, and if that is too much, what leaves the windows of its budgets. Rejects as `read`. */
export async function limitsOf(
  database: Pick<Database, "read">,
  { id, budgets = {} }: Pick<LimitedKey, "id" | "budgets">,
): Promise<{ figures: KeyFigures; leaving: (windowMs: number) => Leaving[] }> {
  const [row] = await database.read(FIGURES, [id]);
  const figures = { ...row, price: row?.price ?? undefined } as KeyFigures;
  const isFull = createBlocks(budgets, figures).length > 0;
  const windows = [budgets.budget?.ms, budgets.dollars?.ms].filter((ms) => ms !== undefined);
  const rows = isFull ? await database.read(LEAVING, [id, [...new Set(windows)]]) : [];
  return {
    figures,
    leaving: (windowMs) =>
      (rows as (Leaving & { of_window: number })[]).filter((one) => one.of_window === windowMs),
  };
}

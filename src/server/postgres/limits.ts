import { createRefusal } from "../conversations/budget-rules.js";
import type { KeyFigures, Leaving, LeavingOf, LimitedKey } from "../conversations/conversation-store.js";
import { type Database, sql } from "./database.js";

/** keys */
const FIGURES = sql("figures")`
  SELECT id, created::float8, said::float8, reserved::float8, begun::float8, running::int, waiting::int, price::float8,
    is_measured AS "isMeasured"
  FROM research.keys AS own, LATERAL research.figures(own) WHERE id = ANY ($1)`;

/** key, windows in ms: what leaves them first. */
const LEAVING = sql("leaving")`
  SELECT of_window, extract(epoch FROM leaves - clock_timestamp())::float8 * 1000 AS ms, created::float8, dollars::float8
  FROM unnest($2::float8[]) AS of_window, LATERAL (
    SELECT * FROM research.counted($1, of_window) ORDER BY leaves LIMIT 1000
  ) AS leaving`;

export interface KeyLimits<Key> {
  key: Key;
  figures: KeyFigures;
  /** What leaves a window of its budgets; empty if its creates are not refused. */
  leaving: LeavingOf;
}

/** Of a key that was not added. */
const NOTHING = {
  ...{ created: 0, said: 0, reserved: 0, begun: 0, running: 0, waiting: 0 },
  ...{ price: undefined, isMeasured: true },
};

/** What counts against the limits of keys, in their order. Rejects as `Database.read`. */
export async function limitsOf<Key extends Pick<LimitedKey, "id" | "budgets">>(
  database: Pick<Database, "read">,
  keys: readonly Key[],
): Promise<KeyLimits<Key>[]> {
  const rows = await database.read(FIGURES, [keys.map(({ id }) => id)]);
  const limits = keys.map(async (key): Promise<KeyLimits<Key>> => {
    const { id, budgets = {} } = key;
    const row = rows.find((one) => one.id === id);
    const figures: KeyFigures = { ...NOTHING, ...row, price: row?.price ?? undefined };
    const windows = [budgets.budget?.ms, budgets.dollars?.ms].filter((ms) => ms !== undefined);
    const isFull = createRefusal(budgets, figures, () => []) !== undefined;
    const parts = isFull ? await database.read(LEAVING, [id, [...new Set(windows)]]) : [];
    const leaving = (windowMs: number) =>
      parts.filter(({ of_window }) => of_window === windowMs) as Leaving[];
    return { key, figures, leaving };
  });
  return Promise.all(limits);
}

import type { KeyFigures } from "../conversations/conversation-store.js";
import { type Database, defineSql } from "./database.js";

/** Reads what keys have used. Parameter: keys. */
const FIGURES = defineSql("figures")`
  SELECT id, created::float8, said::float8 AS spent, reserved::float8, begun::float8 AS "reservedByRunning", running::int, waiting::int, price::float8,
    is_measured AS "isMeasured",
    extract(epoch FROM created_free_at - clock_timestamp())::float8 * 1000 AS "createdFreeMs",
    extract(epoch FROM said_free_at - clock_timestamp())::float8 * 1000 AS "spentFreeMs"
  FROM research.keys AS own, LATERAL research.figures(own) WHERE id = ANY ($1)`;

const NOTHING = {
  created: 0,
  spent: 0,
  reserved: 0,
  reservedByRunning: 0,
  running: 0,
  waiting: 0,
  isMeasured: true,
};

/** Reads what keys have used; the result returns zeros for a key that was not added. Rejects as `Database.read` does. */
export async function createFiguresReader(database: Pick<Database, "read">, keys: readonly string[]) {
  const rows = await database.read(FIGURES, [keys]);
  return (key: string): KeyFigures => {
    const row = rows.find(({ id }) => id === key) ?? {};
    return { ...NOTHING, ...Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) };
  };
}

import { describe } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { query } from "../../support/postgres.js";
import { serviceStoreAt } from "../../support/postgres-store.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { budgetContract } from "../conversations/budget-contract.js";
import { storeContract } from "../conversations/store-contract.js";

const { postgres, newDatabase } = await sharedPostgres();
let url: string | undefined;

/** One database for all: making and removing one for each test takes longer than the tests. */
async function emptyDatabase(): Promise<string> {
  url ??= await newDatabase();
  await query(url, "DROP SCHEMA IF EXISTS research CASCADE");
  return url;
}

describe.skipIf(!postgres)("needs PostgreSQL", () => {
  storeContract("in PostgreSQL", {
    open: async ({ pendingMs }) => serviceStoreAt(await emptyDatabase(), { pendingMs }),
    clock: systemClock,
    hasKeys: true,
    keepsExchanges: true,
  });

  budgetContract("in PostgreSQL", {
    open: async () => serviceStoreAt(await emptyDatabase()),
    clock: systemClock,
    /** Everything becomes older instead, in the sums of what was deleted too. */
    async pass(hours) {
      const at = url ?? "";
      await query(
        at,
        `UPDATE research.conversations SET created_at = created_at - $1 * interval '1 h',
          completed_at = completed_at - $1 * interval '1 h'`,
        [hours],
      );
      await query(
        at,
        "UPDATE research.sums SET at = at - $1 * interval '1 h' WHERE is_deleted AND span = 'hour'",
        [hours],
      );
      await query(at, "DELETE FROM research.sums WHERE is_deleted AND span = 'day'");
      await query(
        at,
        `INSERT INTO research.sums (span, key, at, model, is_deleted, created, completed, failed, stopped, dollars)
        SELECT 'day', key, date_trunc('day', at, 'UTC'), model, is_deleted, sum(created), sum(completed), sum(failed), sum(stopped), sum(dollars) FROM research.sums
        WHERE is_deleted AND span = 'hour' GROUP BY 2, 3, 4, 5`,
      );
      await query(at, "SELECT research.recount()");
    },
  });
});

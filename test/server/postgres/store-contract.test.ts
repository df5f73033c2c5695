import { describe } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { query } from "../../support/postgres.js";
import { serviceStoreAt } from "../../support/postgres-store.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
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
});

import { describe } from "vitest";
import { systemClock } from "../../../src/clock.js";
import { testPostgres } from "../../support/postgres.js";
import { storeAt } from "../../support/postgres-store.js";
import { storeContract } from "../conversations/store-contract.js";

const postgres = await testPostgres();
const newDatabase = () => postgres?.database() ?? Promise.reject(new Error("no database"));

describe.skipIf(!postgres)("needs PostgreSQL", () => {
  storeContract("in PostgreSQL", {
    open: async ({ pendingMs }) => storeAt(await newDatabase(), { pendingMs }),
    clock: systemClock,
    hasKeys: true,
    keepsExchanges: true,
  });
});

import { expect, it } from "vitest";
import { query } from "./postgres.js";
import { sharedPostgres } from "./shared-postgres.js";

const postgres = await sharedPostgres();

it.skipIf(!postgres)("PostgreSQL for tests: databases of their own (needs PostgreSQL)", async () => {
  const [one, two] = [await postgres?.database(), await postgres?.database()];
  await query(one ?? "", "CREATE TABLE only_here (id int)");
  await expect(query(two ?? "", "SELECT * FROM only_here")).rejects.toThrow("does not exist");
});

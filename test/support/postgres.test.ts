import { expect, it } from "vitest";
import { query, testPostgres } from "./postgres.js";

const postgres = await testPostgres();

it.skipIf(!postgres)("PostgreSQL for tests: databases of their own (needs PostgreSQL)", async () => {
  const [one, two] = [await postgres?.database(), await postgres?.database()];
  await query(one ?? "", "CREATE TABLE only_here (id int)");
  await expect(query(two ?? "", "SELECT * FROM only_here")).rejects.toThrow("does not exist");
});

it.skipIf(!postgres?.server)(
  "what was committed is there after a crash (needs its own PostgreSQL)",
  async () => {
    const url = (await postgres?.database()) ?? "";
    await query(url, "CREATE TABLE kept AS SELECT 7 AS number");
    for (const mode of ["fast", "immediate"] as const) {
      await postgres?.server?.stop(mode);
      await expect(query(url, "SELECT 1")).rejects.toThrow();
      await postgres?.server?.start();
      expect(await query(url, "SELECT number FROM kept")).toEqual([{ number: 7 }]);
    }
  },
);

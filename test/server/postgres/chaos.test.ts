import { describe, expect, it } from "vitest";
import { seeded } from "../../../bench/support/runs.js";
import { chaos, type Fault } from "../../support/database-chaos.js";
import { testPostgres } from "../../support/postgres.js";

const { postgres, newDatabase } = await testPostgres();

/** A few of what `npm run test:soak` does for five minutes. */
const FAULTS: Fault[] = ["kill", "restart", "cut", "suspend", "terminate"];

describe.skipIf(!postgres?.server)("faults under load (needs its own PostgreSQL)", () => {
  it(`${FAULTS.join(", ")}: nothing lost, doubled, ended twice or done after a refusal`, {
    timeout: 240_000,
  }, async () => {
    const database = await newDatabase();
    const size = { clients: 2, roles: ["all", "all"] as const };
    const { acknowledged, ...losses } = await chaos(database, postgres?.server, FAULTS, seeded(1), size);
    expect(acknowledged).toBeGreaterThan(FAULTS.length);
    for (const lost of Object.values(losses)) expect(lost).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { killUnderLoad } from "../../support/kill-under-load.js";
import { testPostgres } from "../../support/postgres.js";

const postgres = await testPostgres();

/** A few of what `npm run test:soak` does 200 times. */
const KILLS = 6;

describe.skipIf(!postgres?.server)("kill -9 (needs its own PostgreSQL)", () => {
  it(`${KILLS} times under load, PostgreSQL restarted between: nothing lost, nothing ended twice`, {
    timeout: 240_000,
  }, async () => {
    const database = (await postgres?.database()) ?? "";
    const load = { kills: KILLS, restartEvery: KILLS / 2, server: postgres?.server };
    const { acknowledged, ...losses } = await killUnderLoad(database, load);
    expect(acknowledged).toBeGreaterThan(KILLS);
    for (const lost of Object.values(losses)) expect(lost).toEqual([]);
  });
});

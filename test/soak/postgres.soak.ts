import { expect, test } from "vitest";
import { killUnderLoad } from "../support/kill-under-load.js";
import { testPostgres } from "../support/postgres.js";

const postgres = await testPostgres();
const KILLS = 200;

test.skipIf(!postgres?.server)(
  `${KILLS} random kill -9 of APIs and workers under load, PostgreSQL restarted every 20 (needs its own PostgreSQL)`,
  { timeout: 3_600_000 },
  async () => {
    const database = (await postgres?.database()) ?? "";
    const load = { kills: KILLS, restartEvery: 20, server: postgres?.server };
    const { acknowledged, ...losses } = await killUnderLoad(database, load);
    expect(acknowledged).toBeGreaterThan(KILLS);
    for (const lost of Object.values(losses)) expect(lost).toEqual([]);
  },
);

import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { chaos, type Fault } from "../support/database-chaos.js";
import { testPostgres } from "../support/postgres.js";

const { postgres, newDatabase } = await testPostgres();
const SEED = Number(process.env.SOAK_SEED ?? Date.now());
const random = seeded(SEED);
const MINUTES = Number(process.env.SOAK_MINUTES ?? 5);
const FAULTS: Fault[] = ["kill", "suspend", "restart", "cut", "halt", "terminate", "lock", "readOnly"];

function* anyFaults(): Iterable<Fault> {
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end; ) {
    yield FAULTS[Math.floor(random() * FAULTS.length)] as Fault;
  }
}

test.skipIf(!postgres?.server)(
  `${MINUTES} minutes of ${FAULTS.join(", ")} under load, SOAK_SEED=${SEED} (needs its own PostgreSQL)`,
  { timeout: 3_600_000 },
  async () => {
    const database = await newDatabase();
    const { acknowledged, ...losses } = await chaos(database, postgres?.server, anyFaults(), random);
    process.stdout.write(`${acknowledged} acknowledged creates\n`);
    expect(acknowledged).toBeGreaterThan(MINUTES * 60);
    for (const lost of Object.values(losses)) expect(lost).toEqual([]);
  },
);

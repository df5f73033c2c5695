import { expect, test } from "vitest";
import { chaos, type Fault } from "../support/database-chaos.js";
import { testPostgres } from "../support/postgres.js";

const postgres = await testPostgres();
const MINUTES = Number(process.env.SOAK_MINUTES ?? 5);
const FAULTS: Fault[] = ["kill", "suspend", "restart", "cut", "halt", "terminate", "lock", "readOnly"];

function* anyFaults(): Iterable<Fault> {
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end; ) {
    yield FAULTS[Math.floor(Math.random() * FAULTS.length)] as Fault;
  }
}

test.skipIf(!postgres?.server)(
  `${MINUTES} minutes of ${FAULTS.join(", ")} under load (needs its own PostgreSQL)`,
  { timeout: 3_600_000 },
  async () => {
    const database = (await postgres?.database()) ?? "";
    const { acknowledged, ...losses } = await chaos(database, postgres?.server, anyFaults());
    process.stdout.write(`${acknowledged} acknowledged creates\n`);
    expect(acknowledged).toBeGreaterThan(MINUTES * 60);
    for (const lost of Object.values(losses)) expect(lost).toEqual([]);
  },
);

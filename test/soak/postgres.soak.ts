import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { chaos, type Fault } from "../support/database-chaos.js";
import { query, testPostgres } from "../support/postgres.js";
import { smallDisk } from "../support/small-disk.js";

const { postgres, newDatabase } = await testPostgres();
const SEED = Number(process.env.SOAK_SEED ?? Date.now());
const random = seeded(SEED);
const MINUTES = Number(process.env.SOAK_MINUTES ?? 5);
/** The data of the server's user; the write-ahead log is elsewhere, because without it the server stops. */
const disk = postgres?.server && smallDisk("size=400m,uid=65534,gid=65534,mode=700");
const happened = new Map<string, number>();

async function fullDisk(): Promise<void> {
  disk?.fill();
  await sleep(random() * 8_000);
  disk?.free();
}

const FAULTS: (Fault | typeof fullDisk)[] = [
  ...(["replace", "kill", "suspend", "restart", "cut", "halt", "terminate", "lock", "readOnly"] as const),
  ...(disk ? [fullDisk] : []),
];

function* anyFaults() {
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end; ) {
    const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? "kill";
    const name = typeof fault === "string" ? fault : fault.name;
    happened.set(name, (happened.get(name) ?? 0) + 1);
    yield fault;
  }
}

/** A database on the small disk, if there is one. */
async function databaseOnDisk(): Promise<string> {
  const url = new URL(await newDatabase());
  if (disk === undefined) return url.href;
  await query(url.href, `CREATE TABLESPACE small LOCATION '${disk.path}'`);
  await query(url.href, "CREATE DATABASE small TABLESPACE small");
  url.pathname = "/small";
  return url.href;
}

test.skipIf(!postgres?.server)(
  `${MINUTES} minutes of faults under load, SOAK_SEED=${SEED} (needs its own PostgreSQL)`,
  { timeout: 3_600_000 },
  async () => {
    const database = await databaseOnDisk();
    const { acknowledged, ...losses } = await chaos(database, postgres?.server, anyFaults(), random);
    const faults = [...happened].map(([name, count]) => `${count} ${name}`).join(", ");
    process.stdout.write(`${acknowledged} acknowledged creates; ${faults}\n`);
    expect(acknowledged).toBeGreaterThan(MINUTES * 60);
    for (const lost of Object.values(losses)) expect(lost).toEqual([]);
  },
);

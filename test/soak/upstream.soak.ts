import { describe, expect, test, vi } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { testPostgres } from "../support/postgres.js";
import {
  type Blow,
  faulty,
  manyWaits,
  nameOf,
  type Outage,
  POINTS,
  type Point,
  STATEMENTS,
  stopInSilence,
  strike,
  wrongs,
} from "../support/upstream-crash.js";

vi.setConfig({ maxConcurrency: 3, testTimeout: 600_000 });

const { postgres, newDatabase } = await testPostgres();
const SEED = Number(process.env.SOAK_SEED ?? Date.now());
const random = seeded(SEED);
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 1);

/** A blow at each point, and then at a drawn moment after it. */
function blows(points: readonly Point[], stops: boolean, how: Blow["how"]) {
  return points.flatMap((point) =>
    Array.from({ length: ROUNDS + 1 }, (_, round) => ({
      ...{ point, stops, how, afterMs: round === 0 ? 0 : Math.floor(random() * 25) },
    })),
  );
}

function table(where: string, rows: Omit<Blow, "database">[], database: () => Promise<string | undefined>) {
  for (const [number, row] of rows.entries())
    test.concurrent(`${where}: ${row.how} ${row.afterMs} ms after ${nameOf(row.point)} (${number}, SOAK_SEED=${SEED})`, async () => {
      const aftermath = await strike({ ...row, database: await database() });
      const what = `${row.how} · ${nameOf(row.point)} +${row.afterMs} ms: ${aftermath.posts} POST, ${aftermath.status}`;
      process.stdout.write(`${where} · ${what}\n`);
      expect(wrongs(aftermath), JSON.stringify(aftermath)).toEqual([]);
    });
}

describe("serve --upstream killed with --data", () => {
  const rows = [...blows(POINTS.runs, false, "kill"), ...blows(POINTS.stops, true, "kill")];
  table("data", rows, async () => undefined);
});

describe.skipIf(!postgres)("serve --upstream with PostgreSQL (needs PostgreSQL)", () => {
  const killed = [
    ...blows([...POINTS.runs, ...STATEMENTS.runs], false, "kill"),
    ...blows([...POINTS.stops, ...STATEMENTS.stops], true, "kill"),
  ];
  const suspended = [
    ...blows([...POINTS.runs, ...STATEMENTS.runs], false, "suspend"),
    ...blows(POINTS.stops, true, "suspend"),
  ];
  table("PostgreSQL", [...killed, ...suspended], newDatabase);

  const TIMES = Number(process.env.SOAK_TIMES ?? 20);
  test.skipIf(!postgres?.server).each<Outage>(["takeover", "lease lost", "restart"])(
    `${TIMES} times %s, two workers (SOAK_SEED=${SEED})`,
    async (kind) => {
      const database = await newDatabase();
      const server = postgres?.server;
      const outageAt = (nth: number) => (nth % 3 === 2 ? kind : undefined);
      const { wrong, figures } = await faulty(
        { conversations: 3 * TIMES, share: 0, outageAt },
        { server, database, random },
      );
      process.stdout.write(`${kind} × ${TIMES}: ${JSON.stringify(figures)}\n`);
      expect(wrong).toEqual([]);
    },
  );
});

test.skipIf(!postgres)(
  `500 conversations of two keys, of which one has dollars for half, 6 % faults, kills, suspensions, 25 stops (needs PostgreSQL, SOAK_SEED=${SEED})`,
  async () => {
    const conversations = Number(process.env.SOAK_CONVERSATIONS ?? 500);
    const outageAt = (nth: number) =>
      nth % 25 === 12 ? "takeover" : nth % 50 === 25 ? "suspension" : undefined;
    const { figures, wrong } = await faulty(
      { conversations, share: 0.06, outageAt },
      { database: await newDatabase(), server: undefined, random },
    );
    process.stdout.write(`faulty: ${JSON.stringify(figures)}\n`);
    expect(wrong).toEqual([]);
    expect(figures.stops).toBeGreaterThan(0);
    expect(figures.overBudget).toBeGreaterThan(0);
  },
);

test("a stop while the service behind is silent for ten minutes, with a restart in between", async () => {
  const { stoppedMs, closedMs, posts } = await stopInSilence(Number(process.env.SOAK_SILENCE_MS ?? 600_000));
  process.stdout.write(`silence: stopped ${stoppedMs} ms after its end, closed within ${closedMs} ms\n`);
  expect(stoppedMs).toBeLessThan(30_000);
  expect(closedMs).toBeLessThan(20_000);
  expect(posts).toBe(1);
}, 1_200_000);

test("1,000 waits in one process, an hour old: memory, processor and how late an end is seen", async () => {
  const waits = 1_000;
  // The longest interval between two polls of one request: each is polled once in this time.
  const { residentMiB, processorShare, latestEndMs } = await manyWaits(waits, 120_000);
  const share = `${(100 * processorShare).toFixed(2)} % of a core`;
  process.stdout.write(
    `${waits} waits: ${residentMiB.toFixed(0)} MiB, ${share}, ends seen within ${latestEndMs} ms\n`,
  );
  expect(residentMiB).toBeLessThan(200);
  // For a machine with nothing else to do.
  expect(processorShare).toBeLessThan(0.01);
  // 5 % of an hour.
  expect(latestEndMs).toBeLessThan(180_000);
});

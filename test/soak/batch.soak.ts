import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { batchLosses, crashBatch } from "../support/batch-crash.js";
import { longBatch } from "../support/long-batch.js";

const SEED = Number(process.env.SOAK_SEED ?? Date.now());
const random = seeded(SEED);
const ROUNDS = 50;

test(`kill -9 at ${ROUNDS} moments, each of a batch of its own (SOAK_SEED=${SEED})`, {
  timeout: 600_000,
}, async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const moment = random();
    expect(batchLosses(await crashBatch([moment])), `killed at ${moment}`).toEqual([]);
  }
});

test("10,000 rows to the last: memory stays flat", { timeout: 1_200_000 }, async () => {
  const { firstCreateMs, early, late } = await longBatch(10_000, 10_000);
  expect(firstCreateMs).toBeLessThan(1_000);
  expect(late - early).toBeLessThan(50);
});

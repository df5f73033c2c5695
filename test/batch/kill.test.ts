import { expect, test } from "vitest";
import { batchLosses, crashBatch } from "../support/batch-crash.js";

const ROUNDS = 12;

test(`kill -9 at ${ROUNDS} moments of a batch of 30 rows: each prompt sent once or held, every result whole`, {
  timeout: 180_000,
}, async () => {
  let kills = 0;
  for (let i = 0; i < ROUNDS; i += 2) {
    const moments = [Math.random(), Math.random()];
    const crashed = await crashBatch(moments);
    expect(batchLosses(crashed), `killed at ${moments}`).toEqual([]);
    kills += crashed.kills;
  }
  expect(kills).toBeGreaterThan(ROUNDS / 3);
});

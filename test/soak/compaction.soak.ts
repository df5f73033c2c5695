import { expect, test } from "vitest";
import { killInCompaction } from "../support/kill-compaction.js";

const KILLS = 50;

test(`${KILLS} kill -9 in the middle of a compaction: nothing is lost`, { timeout: 900_000 }, async () => {
  const { killed, acknowledged, ...losses } = await killInCompaction(KILLS);
  expect(acknowledged).toBeGreaterThanOrEqual(killed / 2);
  expect(losses).toEqual({ lost: [], withoutOutput: [] });
});

import { expect, it } from "vitest";
import { killInCompaction } from "../../../support/kill-compaction.js";

it("kill -9 in the middle of a compaction, again and again: nothing is lost", async () => {
  const { killed, acknowledged, ...losses } = await killInCompaction(5);
  expect(acknowledged).toBeGreaterThanOrEqual(killed / 2);
  expect(losses).toEqual({ lost: [], withoutOutput: [] });
});

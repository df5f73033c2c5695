import { expect, test } from "vitest";
import { longBatch } from "../../../support/long-batch.js";

test.runIf(process.platform === "linux")(
  "10,000 rows: the first create within a second, and memory stays flat",
  { timeout: 120_000 },
  async () => {
    const { firstCreateMs, early, late } = await longBatch(10_000, 400);
    expect(late).toBeLessThan(200);
    // Each result is half a megabyte: 200 of them kept would be twice this.
    expect(late - early).toBeLessThan(50);
    // Other tests run on the same cores, so the best of six starts counts.
    const starts = [firstCreateMs];
    while (Math.min(...starts) > 1_000 && starts.length < 6)
      starts.push((await longBatch(10_000, 1)).firstCreateMs);
    expect(Math.min(...starts)).toBeLessThan(1_000);
  },
);

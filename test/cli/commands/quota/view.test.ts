import { expect, test } from "vitest";
import { quotaText } from "../../../../src/cli/commands/quota/run.js";
import type { Quota } from "../../../../src/machine/quota.js";

const NOW = Date.UTC(2030, 0, 1, 12);
const QUOTA: Quota = {
  ...{ used: 10, limit: 10, left: 0, next_slot_at: new Date(NOW + 61_000).toISOString() },
  ...{ origin: "https://a.example", profile: "work", counted_from: "this machine's own records" },
};

// quota.test.ts has an hour with creates left, and one without a limit.
test("an hour that is used up says when the next slot is", () => {
  expect(quotaText(QUOTA, NOW)).toBe(
    "10 of 10 creates used in the last hour at https://a.example, 0 left; the next slot is in 1m 01s, at 2030-01-01T12:01:01.000Z\n",
  );
});

import { expect, test } from "vitest";
import { formatCreatesUsed } from "../../../../src/cli/commands/quota/run.js";

const NOW = Date.UTC(2030, 0, 1, 12);
type Quota = Parameters<typeof formatCreatesUsed>[0];
const QUOTA: Quota = {
  ...{ used: 4, limit: 10, left: 6, next_slot_at: new Date(NOW).toISOString() },
  ...{ origin: "https://a.example", profile: "work", counted_from: "this machine's own records" },
};

test.each<[string, Partial<Quota>, string]>([
  [
    "some are left",
    {},
    "4 of 10 creates used in the last hour at https://a.example, 6 left; the next one may be sent now\n",
  ],
  [
    "none is left",
    { used: 10, left: 0, next_slot_at: new Date(NOW + 61_000).toISOString() },
    "10 of 10 creates used in the last hour at https://a.example, 0 left; the next slot is in 1m 01s, at 2030-01-01T12:01:01.000Z\n",
  ],
  [
    "without a limit",
    { limit: null, left: null, next_slot_at: null },
    "4 creates in the last hour at https://a.example\n",
  ],
])("as a sentence: %s", (_, parts, text) => {
  expect(formatCreatesUsed({ ...QUOTA, ...parts }, NOW)).toBe(text);
});

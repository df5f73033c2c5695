import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { chaos } from "../support/chaos.js";

/** `npm run test:soak -- -t chaos` is the long one. */
const SECONDS = 5;

test("a few seconds of spoilt connections and kills: none lost, none doubled, none unknown without reason", {
  timeout: 120_000,
}, async () => {
  const { creates, lost, doubled, unfounded } = await chaos(SECONDS, seeded(1));
  expect({ lost, doubled, unfounded }).toEqual({ lost: [], doubled: [], unfounded: [] });
  expect(creates).toBeGreaterThan(0);
});

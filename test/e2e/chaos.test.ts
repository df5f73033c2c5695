import { expect, test } from "vitest";
import { chaos } from "../support/chaos.js";

/** `npm run test:soak -- -t chaos` is the long one, which also asks that each unknown outcome has a reason. */
const SECONDS = 5;

test("a few seconds of spoilt connections and kills: none lost, none doubled", {
  timeout: 120_000,
}, async () => {
  const { creates, lost, doubled } = await chaos(SECONDS, Math.random);
  expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
  expect(creates).toBeGreaterThan(0);
});

import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { chaos } from "../support/chaos.js";

/** `npm run test:soak -- -t chaos` is the long one. */
const COMMANDS = 15;

test("spoilt connections and kills: none lost, none doubled, none unknown without reason", {
  timeout: 120_000,
}, async () => {
  const { creates, lost, doubled, unfounded } = await chaos((commands) => commands < COMMANDS, seeded(1));
  expect({ lost, doubled, unfounded }).toEqual({ lost: [], doubled: [], unfounded: [] });
  expect(creates).toBeGreaterThan(0);
});

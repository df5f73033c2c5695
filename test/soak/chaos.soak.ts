import { expect, test } from "vitest";
import { chaos } from "../support/chaos.js";

const SECONDS = 120;

test("chaos: six commands, a spoiling proxy, kills; none lost, none doubled, none unknown without reason", {
  timeout: (SECONDS + 120) * 1_000,
}, async () => {
  const end = performance.now() + SECONDS * 1_000;
  const inTime = () => performance.now() < end;
  const { creates, commands, kills, connections, ...losses } = await chaos(inTime, Math.random);
  const extent = `${commands} commands, ${kills} killed, ${connections} connections, ${creates} creates`;
  process.stdout.write(`${extent}\n`);
  expect(losses, extent).toEqual({ lost: [], doubled: [], unfounded: [] });
  expect(creates, extent).toBeGreaterThan(SECONDS);
});

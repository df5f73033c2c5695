import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { accountChaos } from "../support/account-chaos.js";

const SEED = Number(process.env.SOAK_SEED ?? Date.now());
const CREATES = Number(process.env.SOAK_CREATES ?? 1_000);

test(`${CREATES} creates at seven accounts, under faults and kills (SOAK_SEED=${SEED})`, {
  timeout: 4 * 3_600_000,
}, async () => {
  const { posts, commands, kills, faults, ...losses } = await accountChaos(CREATES, seeded(SEED));
  const extent = `${posts} creates of ${commands} commands, ${kills} killed; ${JSON.stringify(faults)}`;
  process.stdout.write(`${extent}\n`);
  expect(losses, extent).toEqual({ doubled: [], lost: [], forgotten: [], leaks: [] });
});

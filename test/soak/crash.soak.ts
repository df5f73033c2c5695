import { expect, test } from "vitest";
import { seeded } from "../../bench/support/runs.js";
import { crash, losses, STAGES } from "../support/crash.js";

const SEED = Number(process.env.SOAK_SEED ?? Date.now());
const random = seeded(SEED);
const EACH = 25;

test.each(Object.entries(STAGES))(
  `killed %s, ${EACH} times (SOAK_SEED=${SEED}): an id or an unknown, and never two POSTs`,
  { timeout: 300_000 },
  async (_name, stage) => {
    for (let i = 0; i < EACH; i++) {
      const moment = random();
      const crashed = await crash(stage, moment);
      expect(losses(crashed), `with ${moment}`).toEqual([]);
    }
  },
);

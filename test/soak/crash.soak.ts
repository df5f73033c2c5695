import { expect, test } from "vitest";
import { crash, losses, STAGES } from "../support/crash.js";

const EACH = 25;

test.each(Object.entries(STAGES))(
  `killed %s, ${EACH} times: an id or an unknown, and never two POSTs`,
  { timeout: 300_000 },
  async (_name, stage) => {
    for (let i = 0; i < EACH; i++) {
      const random = Math.random();
      const crashed = await crash(stage, random);
      expect(losses(crashed), `with ${random}`).toEqual([]);
    }
  },
);

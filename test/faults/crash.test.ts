import { expect, test, vi } from "vitest";
import { crash, losses, STAGES } from "../support/crash.js";

vi.setConfig({ maxConcurrency: 3 });

/** Where the stage alone decides: the POSTs that began, those that were whole, and the state in the history. */
const LEFT: Readonly<Record<string, [number, number, string]>> = {
  "after the headers": [1, 0, "UNKNOWN"],
  "mid-body": [1, 0, "UNKNOWN"],
  "after the body": [1, 1, "UNKNOWN"],
  "mid-answer": [1, 1, "UNKNOWN"],
  "after the first byte of output": [1, 1, "PENDING"],
};

/**
 * One blow where the stage alone decides, two where the moment in it does too; `npm run test:soak` deals two hundred.
 */
const blowsTo = (name: string) => (LEFT[name] || STAGES[name]?.length === 0 ? [0.5] : [0, 0.99]);

for (const [name, stage] of Object.entries(STAGES)) {
  test.concurrent.each(blowsTo(name))(
    `killed ${name}, %d: an id or an unknown, and never two POSTs`,
    async (random) => {
      const crashed = await crash(stage, random);
      expect(losses(crashed)).toEqual([]);
      const { run, posts, whole, history } = crashed;
      const left = LEFT[name];
      if (left) expect([posts, whole, history[0]?.status]).toEqual(left);
      // The blow follows the intent at once, but the POST may be quicker where the machine is busy.
      if (name === "after the intent") expect(history).toHaveLength(1);
      // What has printed its id has nothing left to do, and may be quicker than the blow.
      if (run.code !== 0) expect(run.signal).toBe("SIGKILL");
      else expect(run.stdout).not.toBe("");
    },
  );
}

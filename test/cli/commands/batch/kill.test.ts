import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seeded } from "../../../../bench/support/runs.js";
import { batchLosses, crashBatch } from "../../../support/batch-crash.js";
import { world } from "../../../support/world.js";

test("kill -9 at 3 moments of a batch of 30 rows: each prompt sent once or held, every result whole", {
  timeout: 180_000,
}, async () => {
  const random = seeded(1);
  const moments = [random(), random(), random()];
  const crashed = await crashBatch(moments);
  expect(batchLosses(crashed), `killed at ${moments}`).toEqual([]);
  // How many blows fall in time is the machine's; that none did would show nothing.
  expect(crashed.kills).toBeGreaterThan(0);
});

test("nobody ever sees a part of a result under its name", async () => {
  const size = 16 << 20;
  const here = await world({ output: () => "x".repeat(size) });
  writeFileSync(join(here.home, "q.txt"), "one => COMPLETED\ntwo => COMPLETED\n");
  const running = here.start(["batch", "q.txt", "--out", "out"]);
  const seen = new Set<number | undefined>();
  const look = (line: number) =>
    seen.add(statSync(join(here.home, "out", `line-${line}.md`), { throwIfNoEntry: false })?.size);
  while (running.child.exitCode === null) {
    look(1);
    look(2);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect((await running.done).code).toBe(0);
  look(1);
  expect([...seen]).toEqual([undefined, size]);
});

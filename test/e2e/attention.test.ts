import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { screenHere } from "../support/screen-here.js";
import { world } from "../support/world.js";

describe("--notify", () => {
  test("run and batch ring the bell and say it in a line, with nothing of the prompt", async () => {
    const { home, env, service } = await world();
    const run = screenHere(["run", "--notify", "secret => COMPLETED"], { home, env });
    await run.done;
    const [id] = service.conversations.keys();
    expect(run.raw).toContain(`\u0007${id} is COMPLETED\r\n`);
    writeFileSync(join(home, "rows.txt"), "one => COMPLETED\ntwo => FAILED\n");
    const batch = screenHere(["batch", "rows.txt", "--out", "out", "--notify"], { home, env });
    await batch.done;
    expect(batch.raw).toContain("\u00072 of 2 rows have ended\r\n");
    expect(`${run.raw}${batch.raw}`.match(/\u0007/g)).toHaveLength(2);
  });

  test("writes nothing where stderr is no terminal, or with --json", async () => {
    const { research, service } = await world();
    const id = service.add("x => COMPLETED");
    for (const args of [[], ["--json"]])
      expect((await research(["watch", "--notify", id, ...args])).stderr).not.toMatch(/[\u0007\u001b]/);
  });
});

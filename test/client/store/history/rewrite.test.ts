import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppendLog } from "../../../../src/client/store/history/append-log.js";
import { refuse } from "../../../support/behaviours.js";
import { requireBuild } from "../../../support/build.js";
import { foldersIn, plant } from "../../../support/home.js";
import { environment, NODE, PROGRAM } from "../../../support/run.js";
import { world } from "../../../support/world.js";

requireBuild();

test("a line that is appended after the old file was read is in the new one", async () => {
  const rig = await world({ fault: () => refuse(502, "LOST") });
  const folders = foldersIn(rig.home);
  const path = join(folders.RESEARCH_STATE_DIR, "history.jsonl");
  await rig.research(["create", "x", "--json"], { env: folders });
  const [unknown] = JSON.parse((await rig.research(["list", "--json"], { env: folders })).stdout);
  plant(rig.home, { requestId: "id-1", origin: "http://x", createdAt: 0 });
  const size = statSync(path).size;
  const ended: Promise<unknown>[] = [];
  let calls = 0;
  await new AppendLog(path).rewrite(() => {
    calls++;
    const child = spawn(NODE, [PROGRAM, "resolve", unknown.local_id, "--not-created"], {
      env: environment(rig.home, { ...rig.env, ...folders }),
      stdio: "ignore",
    });
    ended.push(new Promise((resolve) => child.once("exit", resolve)));
    // Until the other process has written to the file that is about to be replaced.
    while (statSync(path).size === size) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return undefined;
  });
  expect(calls).toBe(1);
  expect(await Promise.all(ended)).toEqual([0]);
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { kind: "not-created", local_id: unknown.local_id },
  ]);
});

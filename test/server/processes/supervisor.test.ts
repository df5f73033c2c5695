import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderWith } from "../../support/folder.js";
import { alive } from "../../support/processes.js";
import { start } from "../../support/run.js";
import { KEY, until } from "../../support/service.js";
import { post } from "../../support/wire.js";

/** Says who it is, who its child is and who left its process group; none listens to a polite signal. */
const STUBBORN =
  "trap '' TERM HUP INT; sleep 300 & one=$!; setsid sleep 300 & echo $$ $one $! > pids; wait; sleep 300";

it.each([
  ["the service alone", (service: ReturnType<typeof start>) => service.signal("SIGKILL")],
  ["its whole process group", (service: ReturnType<typeof start>) => service.kill("SIGKILL")],
])("nothing of a command researcher outlives a kill -9 of %s", async (_, kill) => {
  const cwd = folderWith();
  const service = start(["serve", "--port", "0", "--researcher", STUBBORN], {
    cwd,
    env: { RESEARCH_SERVE_API_KEY: KEY },
  });
  const [baseUrl = ""] = await service.waitFor(/http:\S+/);
  await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "why?" });
  const pids = await until(async () => pidsIn(join(cwd, "pids")));
  expect(pids.map(alive)).toEqual([true, true, true]);
  kill(service);
  await until(async () => (pids.some(alive) ? undefined : true));
});

function pidsIn(path: string): number[] | undefined {
  try {
    const pids = readFileSync(path, "utf8").trim().split(/\s+/).map(Number);
    return pids.length === 3 ? pids : undefined;
  } catch {
    return undefined;
  }
}

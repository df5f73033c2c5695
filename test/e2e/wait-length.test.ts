import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HappyService } from "../support/happy-service.js";
import { homeWith, plant } from "../support/home.js";
import { research } from "../support/in-process.js";
import { screen } from "../support/screen.js";

/** A home in whose history five runs at the service took a minute each. */
function practised({ url, env: service }: HappyService) {
  const { home, env } = homeWith(service);
  for (let nth = 0; nth < 5; nth++) {
    const requestId = `0000000${nth}-0000-4000-8000-000000000000`;
    plant(home, { requestId, origin: url, createdAt: 0 });
    const ended = { kind: "status", request_id: requestId, origin: url, status: "COMPLETED" };
    const line = JSON.stringify({ ...ended, at: new Date(60_000).toISOString(), duration_ms: 60_000 });
    appendFileSync(join(env.RESEARCH_STATE_DIR, "history.jsonl"), `${line}\n`);
  }
  return { home, env };
}

test("run, watch and batch say once at the end how long it took, and how long it usually takes", async () => {
  const service = await HappyService.start();
  const { home, env } = practised(service);
  const flags = ["--interval", "10ms"];
  const run = await research(["run", "x => PENDING COMPLETED", ...flags], { home, env });
  expect(run.stderr.match(/ took \d+s \(usually 1m 00s\)$/gm)).toHaveLength(1);
  const ids = [service.add("x => PENDING COMPLETED"), service.add("y => PENDING COMPLETED")];
  const watch = await research(["watch", ...ids, ...flags], { home, env });
  expect(watch.stderr).toMatch(/^all 2 had ended after \d+s \(usually \d\S*.*\)$/m);
  const input = "one => COMPLETED\ntwo => COMPLETED\n";
  const batch = await research(["batch", "-", "--out", join(home, "answers"), ...flags], {
    home,
    env,
    input,
  });
  expect(batch.stderr.match(/it took \d+s; a run usually takes/g)).toHaveLength(1);
  const json = await research(["run", "--json", "x => PENDING COMPLETED", ...flags], { home, env });
  expect(json.stderr).not.toMatch(/took|usually/);
});

test.each([40, 200])("the live line fits a terminal of %i columns", { timeout: 30_000 }, async (cols) => {
  const state = "進行中".repeat(12);
  const service = await HappyService.start();
  const { home, env } = practised(service);
  const id = service.add(`x => ${Array.from({ length: 40 }, () => state).join(" ")} COMPLETED`);
  const watch = screen(["watch", id, "--interval", "50ms"], { home, env, cols });
  await watch.waitFor(/進行/, 20_000);
  const lines = () =>
    watch
      .text()
      .split("\n")
      .filter((line) => line.includes("進行"));
  expect(lines()).toHaveLength(1);
  if (cols === 200) expect(lines()[0]).toContain("usually 1m 00s");
  else expect(lines()[0]).toContain("…");
  watch.kill();
  await watch.done;
});

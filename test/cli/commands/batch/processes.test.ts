import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../support/service.js";
import { world } from "../../../support/world.js";

test("the second batch on a folder names the first one's process, and a dead one's folder is taken over", async () => {
  const here = await world();
  const file = join(here.home, "q.txt");
  const out = join(here.home, "out");
  writeFileSync(file, "stuck => PROCESSING\n");
  const first = here.start(["batch", file, "--out", out]);
  await first.waitFor(/PROCESSING/, { on: "stderr" });
  const second = await here.research(["batch", file, "--out", out]);
  expect(second).toMatchObject({
    code: 12,
    stderr: expect.stringContaining(`another batch, process ${first.pid}`),
  });
  first.kill("SIGKILL");
  await first.done;
  for (const conversation of here.service.conversations.values()) conversation.timeline = ["COMPLETED"];
  expect((await here.research(["batch", file, "--out", out])).code).toBe(0);
  expect(here.service.server.count("create")).toBe(1);
});

test("a shell loop around a batch stops with it, and the command that goes on is named", async () => {
  const here = await world();
  const running = here.startBash(`
    printf '%s\\n' 'stuck => PROCESSING' > q.txt
    for i in 1 2 3; do research batch q.txt --out out; echo "went on with $?"; done
  `);
  await running.waitFor(/PROCESSING/, { on: "stderr" });
  running.kill("SIGINT");
  const { stdout, stderr } = await running.done;
  expect(stdout).not.toContain("went on");
  expect(stderr).toContain("go on with: research batch q.txt --out out\n");
});

test("a closed pipe ends it quietly, unfinished", async () => {
  const here = await world();
  const { stdout, stderr } = await here.bash(`
    printf '%s\\n' 'a => COMPLETED' 'stuck => PROCESSING' 'b => COMPLETED' > q.txt
    research batch q.txt --out out --interval 50ms 2>err | head -1 > first; echo "\${PIPESTATUS[0]}"
    cat first
  `);
  expect(stdout).toMatch(/^8\n\S+\tCOMPLETED\t/);
  expect(stderr).toBe("");
  await until(async () => here.service.server.count("create") === 3 || undefined);
});

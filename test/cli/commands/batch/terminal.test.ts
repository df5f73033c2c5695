import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { liveBatch } from "../../../../src/cli/commands/batch/view.js";
import { PLAIN } from "../../../../src/cli/terminal/reporter.js";
import { folderWith } from "../../../support/folder.js";
import { HappyService } from "../../../support/happy-service.js";
import { screen } from "../../../support/screen.js";

test("on a terminal a bar shows how far it is and what is left of the hour; the rows stand above it", async () => {
  const service = await HappyService.start();
  const home = folderWith();
  writeFileSync(join(home, "q.txt"), "one => COMPLETED\ntwo => PROCESSING\nthree\n");
  const args = ["batch", "q.txt", "--out", "out", "--per-hour", "2", "--interval", "100ms"];
  const shown = screen(args, { home, env: service.env, cols: 140 });
  await shown.waitFor(
    /█{6}░{14} 1 of 3 done, 1 running, 1 waiting; 0 creates left this hour, next slot [-\d ]*\d\d:\d\d/,
  );
  expect(shown.text()).toMatch(/COMPLETED\s+line 1\s+line-1\.md\n/);
  shown.type("\x03");
  expect(await shown.done).toMatchObject({ signal: 2 });
  expect(shown.text()).toContain("go on with: research batch q.txt --out out --per-hour 2 --interval 100ms");
  expect(shown.cursorVisible).toBe(true);
});

test("the live line, in a zone of one's own", () => {
  const now = new Date(2030, 0, 1, 12, 0).getTime();
  const counts = { waiting: 24, running: 3, done: 10, failed: 1, refused: 1, stopped: 0, unknown: 1 };
  const outlook = { left: 4, nextAt: now + 3 * 60_000, endsAt: now + 15 * 3_600_000 };
  expect(liveBatch(counts, outlook, now, PLAIN)).toBe(
    "██████░░░░░░░░░░░░░░ 10 of 40 done, 3 running, 24 waiting, 1 failed, 1 refused, 1 unknown; " +
      "4 creates left this hour, next slot 12:03, end about 2030-01-02 03:00",
  );
});

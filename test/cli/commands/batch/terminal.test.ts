import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { measureColumns } from "../../../../src/core/text/text-width.js";
import { refuse } from "../../../support/behaviours.js";
import { folderWith } from "../../../support/folder.js";
import { HappyService } from "../../../support/happy-service.js";
import { screen } from "../../../support/screen.js";
import { screenHere } from "../../../support/screen-here.js";

test("on a terminal a bar shows how far it is and what is left of the hour; the rows stand above it", async () => {
  const service = await HappyService.start();
  const home = folderWith();
  writeFileSync(join(home, "q.txt"), "one => COMPLETED\ntwo => PROCESSING\nthree\n");
  const args = ["batch", "q.txt", "--out", "out", "--per-hour", "2", "--interval", "100ms"];
  const shown = screen(args, { home, env: service.env, cols: 140 });
  await shown.waitFor(
    /█{6}░{14} 1 of 3 done, 1 running, 1 waiting; 0 creates left this hour, next slot [-\d ]*\d\d:\d\d/,
  );
  expect(shown.text()).toMatch(/^line 1 {2}COMPLETED {6,}\d+s {2}one => COMPLETED$/m);
  shown.type("\x03");
  expect(await shown.done).toMatchObject({ signal: 2 });
  expect(shown.text()).toContain("go on with: research batch q.txt --out out --per-hour 2 --interval 100ms");
  expect(shown.cursorVisible).toBe(true);
});

const KEYS = ["a", "a-key-that-is-longer-than-others-2026", "日本"];
const ROWS = KEYS.map((key) =>
  JSON.stringify({ key, prompt: `${"潮の満ち引きはどのように ".repeat(8)} => FAILED` }),
);

test.each([60, 140])(
  "rows and those of a dry run line up in %i columns, and the last line says what to do",
  async (cols) => {
    const service = await HappyService.start();
    const options = { home: folderWith({ "q.jsonl": ROWS.join("\n") }), env: service.env, cols };
    const dry = screenHere(["batch", "q.jsonl", "--dry-run"], options);
    await dry.done;
    const shown = screenHere(["batch", "q.jsonl", "--out", "out", "--interval", "50ms"], options);
    expect(await shown.done).toMatchObject({ code: 3 });
    const names = ["a ", "a-key-that-is-longer-th…", "日本 "];
    for (const [text, beside] of [
      [dry.text(), / {2}潮/],
      [shown.text(), / {2}FAILED {9,}\d+s {2}潮/],
    ] as const) {
      const rows = text.split("\n").filter((line) => names.some((name) => line.startsWith(name)));
      expect(rows).toHaveLength(3);
      for (const row of rows) expect(row).toMatch(beside);
      expect(new Set(rows.map((row) => measureColumns(row.slice(0, row.indexOf("潮"))))).size).toBe(1);
      for (const row of rows) expect(measureColumns(row)).toBeLessThanOrEqual(cols);
    }
    expect(shown.text().match(/^ {2}\S+\s+(?:\S+\s+)*?ended\s+FAILED/gm)).toHaveLength(3);
    expect(shown.text().split("\n").at(-1)).toMatch(
      /^(?:--retry-failed sends failed and refused rows again|.*refused)$/,
    );
  },
);

test("what no more is sent of is left to do, and nothing is watched if nothing runs", async () => {
  const service = await HappyService.start({ fault: () => refuse(401, "INVALID_API_KEY") });
  const options = { home: folderWith({ "q.txt": "one\ntwo\n" }), env: service.env, cols: 80 };
  const shown = screenHere(["batch", "q.txt", "--out", "out"], options);
  expect(await shown.done).toMatchObject({ code: 4 });
  expect(shown.text()).not.toContain("watched");
  expect(shown.text()).toMatch(/^2 not finished; go on with: research batch q\.txt --out out$/m);
  expect(shown.text().split("\n").at(-1)).toContain("go on with");
});

const lines = (count: number) => Array.from({ length: count }, (_, i) => `q ${i} => COMPLETED\n`).join("");

test("on a terminal more than 20 rows are sent only after a yes; -y and 20 rows need none", async () => {
  const service = await HappyService.start();
  const home = folderWith({ "README.md": lines(21), "q.txt": lines(20) });
  const start = (...args: string[]) => {
    const flags = ["--out", "out", "--interval", "50ms", ...args.slice(1)];
    return screenHere(["batch", String(args[0]), ...flags], { home, env: service.env, cols: 200 });
  };
  const refused = start("README.md");
  await refused.waitFor(
    /Send 21 rows of README\.md, read as text, one prompt a line, to http:\S+\? Each row is a create request\. \[y\/N\]/,
  );
  refused.type("n\r");
  expect((await refused.done).code).toBe(2);
  expect(refused.text()).toContain("nothing was sent: not confirmed");
  expect([service.server.count("create"), existsSync(join(home, "out"))]).toEqual([0, false]);

  // What is sent already does not count: of these 21 rows one is left.
  expect((await start("q.txt").done).code).toBe(0);
  expect(service.server.count("create")).toBe(20);
  expect((await start("README.md").done).code).toBe(0);
  expect(service.server.count("create")).toBe(21);

  const agreed = start("README.md", "--out", "again");
  await agreed.waitFor(/\[y\/N\]/);
  agreed.type("y\r");
  expect((await agreed.done).code).toBe(0);
  expect((await start("README.md", "--out", "more", "-y").done).code).toBe(0);
  expect((await start("README.md", "--out", "json", "--json").done).code).toBe(0);
  expect(service.server.count("create")).toBe(84);
});

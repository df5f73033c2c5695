import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "./folder.js";

const root = join(import.meta.dirname, "../..");

/** Runs vitest with the reporter over files of other content. The rest of this project's settings is left out: it costs more than the run. */
function runIn(files: Record<string, string>, env: Record<string, string> = {}, more: string[] = []) {
  const folder = folderWith(files);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const reporters = ["default", join(import.meta.dirname, "summary-reporter.ts")];
  const args = ["run", "--root", folder, "--pool", "threads", ...reporters.map((one) => `--reporter=${one}`)];
  return spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...args, ...more], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
}

const HEAD = 'import { expect, test } from "vitest";\n';

/** The lines that end the run. */
const lastLines = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .filter((line) => /^(skipped|\d)/.test(line));

test("the last line counts what passed and what failed, a file that cannot be loaded as one; cells and skipped tests are named", () => {
  const tests = ["cell: a", "cell: b", "other"].map((name) => `test("${name}", () => {});\n`).join("");
  const { stdout } = runIn({
    "a.test.ts": `${HEAD}${tests}test.skip("needs zsh", () => {});\ntest("y", () => expect(1).toBe(2));`,
    "b.test.ts": `${HEAD}throw new Error("not to be loaded");`,
  });
  expect(lastLines(stdout)).toEqual([
    "2 cells of the fault matrix",
    "skipped: needs zsh",
    "3 passed, 2 failed",
  ]);
});

test("a skipped test fails the run where every tool is installed; one that was not asked for is not a skipped one", () => {
  const suite =
    'describe("a suite", () => { test("one", () => {}); test.skip("one that needs zsh", () => {}); });';
  const files = {
    "a.test.ts": `${HEAD}import { describe } from "vitest";\n${suite}\ntest("two", () => {});`,
  };
  const { status, stdout } = runIn(files, { ALL_TOOLS: "1" }, ["-t", "suite one"]);
  expect([status, ...lastLines(stdout)]).toEqual([
    1,
    "skipped: a suite > one that needs zsh",
    "1 passed, 0 failed",
  ]);
});

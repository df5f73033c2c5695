#!/usr/bin/env node
// Mutation testing: `npm run test:mutation -- [FILE or pattern…]`, by default of the source files that differ from
// main. Breaks each line of them in turn and reports which breaks the tests of the same folders do not notice (see
// test/mutation/stryker.json). MUTATION_TESTS="PATTERN…" names other test files. MUTATION_SHARE=0.3 breaks that share of
// the lines, the same ones each time; what spans several lines is left as it is then.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const named = process.argv.slice(2);
const git = (/** @type {string[]} */ ...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n");
const changed = () =>
  git("diff", "--name-only", "--diff-filter=d", "main").filter((name) => /^src\/.*(?<!\.d)\.ts$/.test(name));
const files = named.length > 0 ? named : changed();
const share = Number(process.env.MUTATION_SHARE ?? 1);
/** src/mcp/tools/*.ts is tested in test/mcp/tools, or if there is no such folder, in test/mcp. */
const testsOf = (/** @type {string} */ pattern) => {
  let folder = join(
    "test",
    dirname(pattern)
      .replace(/^src\/?/, "")
      .replace(/\/?[^/]*[*{].*/, ""),
  );
  while (!existsSync(join(root, folder))) folder = dirname(folder);
  return `${folder}/**/*.test.ts`;
};
const isTaken = (/** @type {string} */ line) =>
  createHash("sha256").update(line).digest().readUInt32LE() < share * 2 ** 32;
/** @param {string} file */
const linesOf = (file) =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .map((_, index) => `${file}:${index + 1}-${index + 1}`);
const broken = () => git("ls-files", "--", ...files.map((pattern) => `:(glob)${pattern}`)).filter(Boolean);
if (files.length === 0) {
  process.stdout.write("no source file differs from main; name the files to test\n");
} else {
  const stryker = join(root, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const args = [
    stryker,
    "run",
    "test/mutation/stryker.json",
    "--mutate",
    (share < 1 ? broken().flatMap(linesOf).filter(isTaken) : files).join(","),
  ];
  const tests = [...new Set(files.map(testsOf))].join(" ");
  const env = { MUTATION_TESTS: tests, ...process.env, MUTATION_LOADS: broken().join(" ") };
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env }).status ?? 1;
}

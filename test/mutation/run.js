#!/usr/bin/env node
// Mutation testing: `npm run test:mutation -- [FILE or pattern…]`, by default of the source files that differ from
// main. Breaks each line of them in turn and reports which breaks no test in test/ notices (see test/mutation/stryker.json).
// MUTATION_TESTS="PATTERN…" runs only the test files named, which is much faster.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const named = process.argv.slice(2);
const git = (/** @type {string[]} */ ...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n");
const changed = () =>
  git("diff", "--name-only", "--diff-filter=d", "main").filter((name) => /^src\/.*(?<!\.d)\.ts$/.test(name));
const files = named.length > 0 ? named : changed();
if (files.length === 0) {
  process.stdout.write("no source file differs from main; name the files to test\n");
} else {
  const stryker = join(root, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const args = [stryker, "run", "test/mutation/stryker.json", "--mutate", files.join(",")];
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
}

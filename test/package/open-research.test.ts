import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { environment, NODE } from "../support/run.js";
import { type World, world } from "../support/world.js";

requireBuild();

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** The examples of docs/library.md, by the file name on their first line. */
const EXAMPLES = new Map(
  Array.from(
    readFileSync(join(root, "docs/library.md"), "utf8").matchAll(/```[jt]s\n\/\/ (\S+)\n(.*?)```/gs),
    ([, name = "", text = ""]) => [name, text],
  ),
);

/** A project that has this package installed, in the home of `rig`. */
function install({ home }: World): void {
  mkdirSync(join(home, "node_modules"), { recursive: true });
  symlinkSync(root, join(home, "node_modules/research-cli"));
  writeFileSync(join(home, "package.json"), '{"type":"module"}');
}

async function example(rig: World, name: string): Promise<string> {
  install(rig);
  writeFileSync(join(rig.home, name), EXAMPLES.get(name) ?? "");
  return execute(rig, name);
}

/** Runs a file in the home of `rig`. */
async function execute({ home, env }: World, file: string): Promise<string> {
  const { stdout } = await run(NODE, [file], { cwd: home, env: environment(home, env) });
  return stdout;
}

// install.test.ts runs typed.ts.
test("each example is run by one of these tests", () => {
  expect([...EXAMPLES.keys()]).toEqual(["example.mjs", "steps.mjs", "typed.ts", "batch.cjs"]);
});

test("a question to its result, in the history of the machine", async () => {
  const rig = await world();
  expect(await example(rig, "example.mjs")).toBe("An answer to: How do tides form?\n");
  expect((await rig.research(["list"])).stdout).toMatch(/\tCOMPLETED\t.*\tHow do tides form\?\n/);
});

test("step by step", async () => {
  const lines = (await example(await world(), "steps.mjs")).trimEnd().split("\n");
  expect(lines.slice(0, -1)).toEqual([
    ...["PENDING", "PROCESSING", "COMPLETED"],
    "An answer to: Why is the sky blue?",
  ]);
  expect(lines.at(-1)).toMatch(/^[0-9a-f-]{36} COMPLETED$/);
});

test("many questions, from CommonJS; the same again sends nothing", async () => {
  const rig = await world();
  const stdout = await example(rig, "batch.cjs");
  expect(stdout.split("\n").filter((line) => /^[01] COMPLETED results\//.test(line))).toHaveLength(2);
  expect(readFileSync(join(rig.home, "results/tides.md"), "utf8")).toContain("How do tides form?");
  await run(NODE, ["batch.cjs"], { cwd: rig.home, env: environment(rig.home, rig.env) });
  expect(rig.service.server.count("create")).toBe(2);
});

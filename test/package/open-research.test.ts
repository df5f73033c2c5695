import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environment, NODE } from "../support/run.js";
import { type World, world } from "../support/world.js";

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
  symlinkSync(join(root, "node_modules/@types"), join(home, "node_modules/@types"));
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

test("each example is run by one of these tests", () => {
  expect([...EXAMPLES.keys()]).toEqual(["example.mjs", "steps.mjs", "typed.ts", "batch.cjs"]);
});

test("a question to its result, in the history of the machine", { timeout: 60_000 }, async () => {
  const rig = await world();
  expect(await example(rig, "example.mjs")).toBe("An answer to: How do tides form?\n");
  expect((await rig.research(["list"])).stdout).toMatch(/\tCOMPLETED\t.*\tHow do tides form\?\n/);
});

test("step by step", { timeout: 60_000 }, async () => {
  const lines = (await example(await world(), "steps.mjs")).trimEnd().split("\n");
  expect(lines).toEqual(["PENDING", "PROCESSING", "COMPLETED", "An answer to: Why is the sky blue?", "1"]);
});

test("a typed result compiles under strict and is checked", { timeout: 60_000 }, async () => {
  let output: object = { metres: 4806 };
  const rig = await world({ output: () => output });
  install(rig);
  writeFileSync(join(rig.home, "typed.ts"), EXAMPLES.get("typed.ts") ?? "");
  const options = ["--strict", "--module", "nodenext", "--target", "es2023", "--types", "node", "typed.ts"];
  const compiled = run(join(root, "node_modules/.bin/tsc"), options, { cwd: rig.home });
  await expect(compiled.catch(({ stdout }) => stdout)).resolves.toMatchObject({ stdout: "" });
  expect(await execute(rig, "typed.js")).toBe("4806\n");
  output = {};
  await expect(execute(rig, "typed.js")).rejects.toMatchObject({
    stderr: expect.stringContaining("SCHEMA_MISMATCH"),
  });
});

test("many questions, from CommonJS; the same again sends nothing", { timeout: 60_000 }, async () => {
  const rig = await world();
  const stdout = await example(rig, "batch.cjs");
  expect(stdout.split("\n").filter((line) => /^[01] COMPLETED results\//.test(line))).toHaveLength(2);
  expect(readFileSync(join(rig.home, "results/tides.md"), "utf8")).toContain("How do tides form?");
  await run(NODE, ["batch.cjs"], { cwd: rig.home, env: environment(rig.home, rig.env) });
  expect(rig.service.server.count("create")).toBe(2);
});

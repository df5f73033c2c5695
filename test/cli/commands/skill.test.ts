import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { installedText, stateOf } from "../../../src/cli/commands/skill/run.js";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";

const source = readFileSync(join(import.meta.dirname, "../../../skills/research/SKILL.md"), "utf8");

describe("the state of a copy", () => {
  test.each([
    ["none", undefined, "missing"],
    ["as installed", installedText(), "current"],
    ["of another version", installedText("---\nname: research\n---\nolder\n"), "stale"],
    ["edited", installedText().replace("Run ", "Never run "), "changed"],
    ["without a hash", source, "changed"],
    ["empty", "", "changed"],
  ])("%s", (_, text, state) => {
    expect(stateOf(text)).toBe(state);
  });
});

test("the skill is a stub that sends the agent to the program", () => {
  expect(source.split("\n").length).toBeLessThan(60);
  expect(source).toMatch(/^---\nname: research\ndescription: .+\n---\n/);
  expect(source).toContain("research help agents");
});

test("install, status, an edited copy and --force", async () => {
  const cwd = folderWith();
  const run = (...args: string[]) => research(["skill", ...args], { cwd });
  expect((await run("status", "--json")).stdout).toBe(
    '{"path":".agents/skills/research/SKILL.md","state":"missing"}\n',
  );
  expect(await run("install")).toMatchObject({
    code: 0,
    stdout: ".agents/skills/research/SKILL.md\tcurrent\n",
  });
  const path = join(cwd, ".agents/skills/research/SKILL.md");
  expect(readFileSync(path, "utf8")).toBe(installedText());
  writeFileSync(path, "mine");
  expect((await run("status")).stdout).toContain("\tchanged\n");
  expect((await run("install")).code).toBe(12);
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect((await run("install", "--force")).code).toBe(0);
  expect((await run("install", "--dir", "elsewhere")).stdout).toBe("elsewhere/research/SKILL.md\tcurrent\n");
});

test("doctor warns of a stale copy in the current folder, and names the command", async () => {
  const cwd = folderWith();
  mkdirSync(join(cwd, ".agents/skills/research"), { recursive: true });
  writeFileSync(join(cwd, ".agents/skills/research/SKILL.md"), installedText("older\n"));
  const { code, stdout } = await research(["doctor", "--only", "version", "--json"], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).checks).toMatchObject([
    { id: "version", status: "warn", fix: "research skill install --force" },
  ]);
});

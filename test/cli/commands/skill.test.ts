import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";

const source = readFileSync(join(import.meta.dirname, "../../../skills/research/SKILL.md"), "utf8");

test("the skill is a stub that sends the agent to the program", () => {
  expect(source.split("\n").length).toBeLessThan(60);
  expect(source).toMatch(/^---\nname: research\ndescription: .+\n---\n/);
  expect(source).toContain("research help agents");
});

test("install writes it; a file that is there stays without --force", async () => {
  const cwd = folderWith();
  const install = (...args: string[]) => research(["skill", "install", ...args], { cwd });
  const name = ".agents/skills/research/SKILL.md";
  expect(await install()).toMatchObject({ code: 0, stdout: `${name}\n` });
  const path = join(cwd, name);
  expect(readFileSync(path, "utf8")).toBe(source);
  writeFileSync(path, "mine");
  expect(await install()).toMatchObject({
    code: 12,
    stdout: "",
    stderr: expect.stringContaining(`${name} exists already; --force overwrites it`),
  });
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect((await install("--force", "--json")).stdout).toBe(`{"path":"${name}"}\n`);
  expect(readFileSync(path, "utf8")).toBe(source);
  expect((await install("--dir", "elsewhere")).stdout).toBe("elsewhere/research/SKILL.md\n");
});

test("install writes where Claude Code looks, if only that is used here", async () => {
  const cwd = folderWith({ ".claude/x": "" });
  const install = async () => (await research(["skill", "install"], { cwd })).stdout;
  expect(await install()).toBe(".claude/skills/research/SKILL.md\n");
  mkdirSync(join(cwd, ".agents"));
  expect(await install()).toBe(".agents/skills/research/SKILL.md\n");
});

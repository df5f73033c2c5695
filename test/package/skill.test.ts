import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

test("the skill of the package is a stub that sends the agent to the program", () => {
  const skill = readFileSync(join(import.meta.dirname, "../../skills/research/SKILL.md"), "utf8");
  expect(skill.split("\n").length).toBeLessThan(60);
  expect(skill).toMatch(/^---\nname: research\ndescription: .+\n---\n/);
  expect(skill).toContain("research help agents");
});

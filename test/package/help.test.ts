import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { research } from "../support/run.js";

const pages: [string, string][] = JSON.parse(
  readFileSync(new URL("../../dist/help.json", import.meta.url), "utf8"),
);

test("every command has a page", () => {
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.map(([words]) => words)).toContain('["config","get"]');
});

test.concurrent.each(pages)("the page of %s is what would be laid out for it now", async (words) => {
  const names: string[] = JSON.parse(words);
  const [looked, laid] = await Promise.all([
    research([...names, "--help"]),
    research(["--json", ...names, "--help"]),
  ]);
  expect(looked).toMatchObject({ code: 0, stderr: "" });
  expect(looked.stdout).toBe(laid.stdout);
});

test("help that no page answers is laid out", async () => {
  const [bare, flagged] = await Promise.all([
    research(["status", "-h"]),
    research(["--json", "status", "-h"]),
  ]);
  expect(flagged).toEqual(bare);
});

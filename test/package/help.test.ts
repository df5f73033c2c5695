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
    research(["--verbose", ...names, "--help"]),
  ]);
  expect(looked).toMatchObject({ code: 0, stderr: "" });
  expect(looked.stdout).toBe(laid.stdout);
});

test("help that no page answers is laid out", async () => {
  const [bare, flagged] = await Promise.all([
    research(["status", "-h"]),
    research(["--verbose", "status", "-h"]),
  ]);
  expect(flagged).toEqual(bare);
});

test.each([
  [["create", "--help", "--json"], ["create"]],
  [["--json", "serve", "keys", "add", "-h"], ["serve keys add"]],
])("%j is the command's help as JSON, by the flag only", async (args, names) => {
  const run = await research(args);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const { schema_version, commands } = JSON.parse(run.stdout);
  expect(schema_version).toBe(1);
  expect(commands.map(({ name }: { name: string }) => name)).toEqual(names);
  const plain = await research(
    args.filter((word) => word !== "--json"),
    { env: { RESEARCH_OUTPUT: "json" } },
  );
  expect(plain.stdout).toMatch(/^Usage: research /);
});

test.each([[["nosuch", "--help"]], [["config", "nosuch", "-h"]], [["--profile", "x", "nosuch", "--help"]]])(
  "%j is bad input and no help",
  async (args) => {
    const run = await research(args);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(/unknown command 'nosuch'/);
  },
);

test("the exit codes of a command stand in lines that fit 80 columns", async () => {
  const { stdout } = await research(["create", "--help"]);
  expect(stdout).toMatch(/^Exit codes:\n {3}0 {2}created\n(?: {2,3}\d+ {2}\S.*\n)+Examples:$/m);
});

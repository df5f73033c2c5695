import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { research } from "../support/in-process.js";
import { start } from "../support/run.js";

requireBuild();

const pages: [string, string][] = JSON.parse(
  readFileSync(new URL("../../dist/help.json", import.meta.url), "utf8"),
);

test("every command has a page", () => {
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.map(([words]) => words)).toContain('["config","get"]');
});

test.each(pages)("the page of %s is what is laid out for it", async (words, page) => {
  const laidOut = await research([...JSON.parse(words), "--help"]);
  expect(laidOut).toMatchObject({ code: 0, stderr: "", stdout: page });
});

test("the built program prints the page, also by its short flag, beside other flags and by `help`", async () => {
  const page = new Map(pages).get('["status"]');
  for (const args of [
    ["status", "--help"],
    ["status", "-h"],
    ["--verbose", "status", "-h"],
    ["help", "status"],
  ])
    expect(await start(args).done).toMatchObject({ code: 0, stderr: "", stdout: page });
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
  expect(stdout).toMatch(/^Exit codes:\n {3}0 {2}done\n(?: {2,3}\d+ {2}\S.*\n(?: {6}\S.*\n)*)+Examples:$/m);
});

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { research } from "../support/in-process.js";

requireBuild();

const root = join(import.meta.dirname, "../..");
const { man } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { man: string[] };
const [page = ""] = man.map((path) => join(root, path));
const hasMandoc = spawnSync("mandoc", ["-T", "lint"], { input: "" }).error === undefined;

test.skipIf(!hasMandoc)("the man page is clean (needs mandoc)", () => {
  const { stdout, status } = spawnSync("mandoc", ["-T", "lint", page], { encoding: "utf8" });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});

test.skipIf(!hasMandoc)("the man page shows every command, flag and exit code (needs mandoc)", async () => {
  const shown = execFileSync("mandoc", ["-T", "ascii", "-O", "width=1000", page], { encoding: "utf8" });
  // Bold text is a character, a backspace and the character again.
  const text = shown.replace(/.\x08/g, "");
  const document = JSON.parse((await research(["help", "--json"])).stdout);
  for (const { name, options } of document.commands) {
    expect(text).toContain(`research ${name}`);
    for (const { flags } of options) if (!flags.includes("--help")) expect(text).toContain(flags);
  }
  for (const { code } of document.exit_codes) expect(text).toMatch(new RegExp(`^ +.*\\b${code}\\b`, "m"));
});

test("the man page is in the package", () => {
  expect(man).toEqual(["./dist/man/research.1"]);
  expect(readFileSync(page, "utf8")).toMatch(/^\.Dd \w+ \d+, \d{4}\n\.Dt RESEARCH 1\n/);
});

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** A project that has this package installed, with one file. */
function project(name: string, text: string): string {
  const folder = folderWith();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/research-cli"));
  symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, name), text);
  return folder;
}

test("the README's snippet compiles under strict", async () => {
  const [, snippet = ""] =
    /## As a library\n+```js\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  expect(snippet).toContain("new ResearchClient(");
  const folder = project("snippet.ts", snippet);
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023", "--types", "node"];
  const tsc = join(root, "node_modules/.bin/tsc");
  await run(tsc, [...options, "snippet.ts"], { cwd: folder }).catch(({ stdout }) => {
    expect(stdout).toBe("");
  });
});

test("an uncaught error shows its name and its sentence, and no screen of code", async () => {
  const text =
    'import { ResearchClient } from "research-cli"; new ResearchClient({ baseUrl: "x", apiKey: "k" });';
  const folder = project("uncaught.js", text);
  const { stderr } = await run(process.execPath, ["uncaught.js"], { cwd: folder }).catch((error) => error);
  expect(stderr).toMatch(/^BaseUrlError: invalid base URL: /m);
  expect(stderr.length).toBeLessThan(4_000);
});

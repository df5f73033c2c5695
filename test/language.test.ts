import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findNouns, findRiddles } from "./support/rules/language.js";

const root = join(import.meta.dirname, "..");

function read(folder: string, ending: RegExp): { path: string; text: string }[] {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return paths
    .filter((path) => ending.test(path))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), "utf8") }));
}

test("each function of src begins with a verb", () => {
  const files = read("src", /\.ts$/);
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap(({ path, text }) => findNouns(text).map((name) => `${path}: ${name}`))).toEqual([]);
});

test("no sentence of src, help and docs has to be decoded", () => {
  const pages = readdirSync(root).filter((name) => /\.(?:md|yml)$/.test(name) && name !== "CONTRIBUTING.md");
  const files = [
    ...[...read("src", /\.(?:ts|txt)$/), ...read("docs", /\.md$/), ...read("skills", /\.md$/)],
    ...pages.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") })),
  ];
  expect(
    files.flatMap(({ path, text }) => findRiddles(text).map((line) => `${path}: ${line.trim()}`)),
  ).toEqual([]);
});

test.each([
  ["function told() {}", "told"],
  ["const stored = () => 1;", "stored"],
  ["class A { accountOf() {} }", "accountOf"],
])("a name without a verb is seen: %s", (text, name) => {
  expect(findNouns(text)).toEqual([name]);
});

test.each([
  "/** How each service is spoken to. */",
  "// Nobody answered.",
  "/** Waits for what was begun. */",
])("a riddle is seen: %s", (text) => {
  expect(findRiddles(text)).toHaveLength(1);
});

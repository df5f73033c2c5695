#!/usr/bin/env node
// Removes the declarations that the library's own do not lead to: the compiler writes one for every file it has read.
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../dist/types");
const needed = new Set([join(root, "index.d.ts")]);
for (const file of needed) {
  const specifiers = readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g);
  for (const [, specifier = ""] of specifiers) needed.add(join(dirname(file), `${specifier}.d.ts`));
}
for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
  const path = join(root, name);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() && !needed.has(path)) rmSync(path);
}

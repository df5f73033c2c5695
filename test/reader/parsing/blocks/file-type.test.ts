import { expect, it } from "vitest";
import { detectFileType } from "../../../../src/reader/parsing/blocks/file-type.js";

const PROSE =
  "The quick brown fox jumps over the lazy dog.\nIt does so again and again, until the evening comes.\n";
const CODE =
  "import { a } from '../../../server/researchers/blocks/a';\nconst b = a(1);\nif (b) {\n  return;\n}\n";

it.each([
  ["a.md", CODE, "markdown"],
  ["a.html", "x", "html"],
  ["a.ts", PROSE, "code"],
  ["LICENSE", PROSE, "text"],
  ["notes", PROSE, "text"],
  ["README", `# Title\n\n${PROSE}`, "markdown"],
  ["build", CODE, "code"],
  ["run", "#!/bin/sh\necho the words of a person who writes\n", "code"],
  ["page", "<!DOCTYPE html><p>x</p>", "html"],
  ["page", '<?xml version="1.0"?>\n<html lang="en"><p>x</p>', "html"],
  ["data", `\n${CODE}<html>`, "code"],
  ["a.csv", PROSE, "csv"],
  ["a.TSV", PROSE, "csv"],
  ["manual.7", PROSE, "text"],
  ["a.mdx", CODE, "markdown"],
  ["page.xhtml", CODE, "html"],
  ["empty", "", "code"],
  ["faq", `${PROSE}\n# pear --all\n`, "text"],
  ["plan", `${PROSE}\n## Then\n`, "markdown"],
  ["even", "It says four words here.\nreturn;\n", "code"],
  ["saved.txt", "<html><p>x</p></html>", "html"],
])("%s is told by its name or its lines", (name, text, type) => {
  expect(detectFileType(name, text)).toBe(type);
});

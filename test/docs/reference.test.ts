import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { referencePage } from "../../docs/reference.js";

test("docs/reference.md is what the help says", () => {
  const written = readFileSync(join(import.meta.dirname, "../../docs/reference.md"), "utf8");
  const isCurrent = written === referencePage();
  expect(isCurrent, "docs/reference.md is older than the help: run npm run docs").toBe(true);
});

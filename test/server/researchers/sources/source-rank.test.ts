import { expect, it } from "vitest";
import { sourceRank } from "../../../../src/server/researchers/sources/source-rank.js";

it.each([
  ["docs/a.md", "prose", 1],
  ["src/a.ts", "code", 0.6],
  ["test/a.ts", "code", 0.2],
  ["spec/limits.md", "prose", 1],
  ["spec/limits.md", "table", 1],
  ["spec/a_spec.rb", "code", 0.2],
  ["LICENSE", "prose", 0.1],
] as const)("%s as %s", (file, kind, expected) => {
  expect(sourceRank(file, kind)).toBe(expected);
});

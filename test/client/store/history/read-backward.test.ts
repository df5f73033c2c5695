import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readLinesBackward } from "../../../../src/core/files/read-lines-backward.js";
import { folderWith } from "../../../support/folder.js";

const path = join(folderWith(), "lines");
const read = (needle?: string) => [...readLinesBackward(path, needle)].map(String);

test("whatever the lines and their lengths, they come back from the last to the first", () => {
  const line = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.integer({ min: 0, max: 700_000 }).map((n) => "0123456789".repeat(n / 10)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), (lines, ends) => {
      const clean = lines.map((text) => text.replace(/[\r\n\ufffd\ud800-\udfff]/g, "."));
      writeFileSync(path, clean.join("\n") + (ends ? "\n" : ""));
      expect(read()).toEqual(clean.filter((text) => text !== "").reverse());
    }),
    { numRuns: 60 },
  );
});

test("a needle finds exactly the lines that contain it", () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `{"n":${i},"pad":"${"p".repeat(i % 97)}"}`);
  writeFileSync(path, lines.join("\n"));
  expect(read('"n":123')).toEqual(lines.filter((text) => text.includes('"n":123')).reverse());
});

test("of a line over 16 MiB the end is replaced, so that what is left is no record", () => {
  writeFileSync(path, `first\n{}${"x".repeat(17 << 20)}\nlast`);
  const [last, long = "", first] = read();
  expect([last, first]).toEqual(["last", "first"]);
  expect(long).toMatch(/^\{\}x*\0$/);
  expect(long.length).toBeLessThan(16 << 20);
});

test("no file has no lines", () => {
  expect([...readLinesBackward(join(folderWith(), "none"))]).toEqual([]);
});

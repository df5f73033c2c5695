import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { requireBuild } from "../support/build.js";

const CHUNKS = join(import.meta.dirname, "../../dist/chunks");
/** What the researcher with a model may add to the tarball, in bytes. */
const MOST = 32 * 1_024;

test("the researcher with a model is a chunk of its own, loaded on demand only, and small", () => {
  requireBuild();
  const chunks = readdirSync(CHUNKS).map((name) => ({
    name,
    code: readFileSync(join(CHUNKS, name), "utf8"),
  }));
  const modelChunks = chunks.filter(({ code }) => code.includes("function createModelResearcher("));
  expect(modelChunks).toHaveLength(1);
  const [{ name = "", code = "" } = {}] = modelChunks;
  expect(chunks.filter((chunk) => new RegExp(`from\\s*"\\./${name}"`).test(chunk.code))).toEqual([]);
  expect(chunks.filter((chunk) => chunk.code.includes(`import("./${name}")`))).toHaveLength(1);
  expect(gzipSync(code).length).toBeLessThanOrEqual(MOST);
});

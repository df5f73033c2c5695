import { relative } from "node:path";
import { gzipSync } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";
import { expect, test } from "vitest";
import config from "../../build/rolldown.config.js";

const ROOT = new URL("../..", import.meta.url).pathname;
const MODEL = "src/reader/writing/";
/** What it alone uses: broken JSON is repaired by a library. */
const OWN = ["src/reader/", "node_modules/jsonrepair/"];
/** What the researcher with a model may add to the tarball, in bytes. */
const MOST = 32 * 1_024;

test("the researcher with a model is a chunk of its own, loaded on demand only, and small", async () => {
  // What only adds files beside the chunks takes a third of the time.
  const named = [config.plugins].flat() as { name: string }[];
  const plugins = named.filter(({ name }) => name !== "help" && name !== "licenses");
  const bundle = await rolldown({ ...config, plugins });
  const { output } = await bundle.generate([config.output].flat()[0]);
  await bundle.close();
  const chunks = output.filter((file): file is OutputChunk => file.type === "chunk");
  const modulesOf = ({ moduleIds }: OutputChunk) => moduleIds.map((id) => relative(ROOT, id));
  const own = chunks.filter((chunk) => modulesOf(chunk).includes(`${MODEL}researcher.ts`));
  expect(own).toHaveLength(1);
  for (const chunk of own) {
    expect(modulesOf(chunk).filter((path) => !OWN.some((folder) => path.includes(folder)))).toEqual([]);
    expect(chunks.filter(({ imports }) => imports.includes(chunk.fileName))).toEqual([]);
    expect(gzipSync(chunk.code).length).toBeLessThanOrEqual(MOST);
  }
});

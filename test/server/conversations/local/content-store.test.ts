import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  FolderContentStore,
  KINDS,
  MemoryContentStore,
} from "../../../../src/server/conversations/local/content-store.js";
import { folderWith } from "../../../support/folder.js";

it("in memory a text is gone when it is deleted, and no other one is", async () => {
  const contents = new MemoryContentStore();
  for (const kind of KINDS) await contents.write(kind, "r", kind);
  await contents.write("outputs", "other", "kept");
  await contents.delete("outputs", "r");
  await contents.delete("outputs", "unknown");
  await expect(contents.read("outputs", "r")).rejects.toThrow("there is no outputs/r");
  expect(await contents.read("ended-jobs", "r")).toBe("ended-jobs");
  expect(await contents.read("outputs", "other")).toBe("kept");
});

it("keeps the records of each conversation in their order, for their owner only, until they are deleted", async () => {
  const dataDir = folderWith();
  const folder = join(dataDir, "exchanges");
  const contents = new FolderContentStore(dataDir);
  const store = contents.exchanges;
  expect(await store.read("r-1")).toEqual([]);
  await Promise.all([
    store.append("r-1", { n: 1 }),
    store.append("r-1", { n: "ü\n" }),
    store.append("r-2", {}),
  ]);
  expect(await new FolderContentStore(dataDir).exchanges.read("r-1")).toEqual([{ n: 1 }, { n: "ü\n" }]);
  expect(statSync(join(folder, "r-1.ndjson")).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  // What was added before a deletion does not come after it.
  await Promise.all([
    store.append("r-1", { n: 3 }),
    contents.deleteExchanges("r-1"),
    contents.deleteExchanges("r-3"),
  ]);
  expect(readdirSync(folder)).toEqual(["r-2.ndjson"]);
});

it("a line that a crash cut off is no record, and spoils no other one", async () => {
  const dataDir = folderWith();
  const store = new FolderContentStore(dataDir).exchanges;
  await store.append("r", { n: 1 });
  appendFileSync(join(dataDir, "exchanges", "r.ndjson"), '{"n":2,"x":"');
  await store.append("r", { n: 3 });
  expect(await store.read("r")).toEqual([{ n: 1 }, { n: 3 }]);
});

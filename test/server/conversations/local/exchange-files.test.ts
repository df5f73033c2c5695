import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ExchangeFiles } from "../../../../src/server/conversations/local/exchange-files.js";
import { folderWith } from "../../../support/folder.js";

const never = new AbortController().signal;

it("keeps the records of each conversation in their order, for their owner only, until they are deleted", async () => {
  const folder = join(folderWith(), "exchanges");
  const store = new ExchangeFiles(folder);
  expect(await store.read("r-1")).toEqual([]);
  await Promise.all([
    store.append("r-1", { n: 1 }),
    store.append("r-1", { n: "ü\n" }),
    store.append("r-2", {}),
  ]);
  expect(await new ExchangeFiles(folder).read("r-1")).toEqual([{ n: 1 }, { n: "ü\n" }]);
  expect(statSync(join(folder, "r-1.ndjson")).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  // What was added before a deletion does not come after it.
  await Promise.all([store.append("r-1", { n: 3 }), store.delete("r-1"), store.delete("r-3")]);
  expect(readdirSync(folder)).toEqual(["r-2.ndjson"]);
});

it("a line that a crash cut off is no record, and spoils no other one", async () => {
  const folder = folderWith();
  const store = new ExchangeFiles(folder);
  await store.append("r", { n: 1 });
  appendFileSync(join(folder, "r.ndjson"), '{"n":2,"x":"');
  await store.append("r", { n: 3 });
  expect(await store.read("r")).toEqual([{ n: 1 }, { n: 3 }]);
});

it("what is not wanted is deleted at the start", async () => {
  const folder = folderWith();
  const store = new ExchangeFiles(folder);
  await store.append("a", {});
  await store.append("b", {});
  await store.deleteUnwanted((requestId) => requestId === "b", never);
  expect(readdirSync(folder)).toEqual(["b.ndjson"]);
  await new ExchangeFiles(join(folder, "none")).deleteUnwanted(() => false, never);
});

import { MessageChannel } from "node:worker_threads";
import { expect, it } from "vitest";
import type { FolderSearch } from "../../../src/reader/finding/corpus.js";
import { FolderIndex, searchThrough, serveSearch } from "../../../src/reader/finding/folder-index.js";
import { folderWith } from "../../support/folder.js";

const about = { kind: "a folder", documents: 2, titles: [], languages: [], unread: [], notes: [] };
const search: FolderSearch = {
  search: async (query, limit) => [
    { passage: { id: query, line: limit, lines: [], heading: "", kind: "prose" }, score: 1 },
  ],
  weights: async (terms) => new Map(terms.map((term) => [term, term.length])),
  open: async () => {
    throw new Error("gone");
  },
  describe: async () => about,
};

it("asks through a port what another thread answers, each call with its own answer", async () => {
  const { port1, port2 } = new MessageChannel();
  serveSearch(port2, search);
  const remote = searchThrough(port1);
  try {
    const [hits, weights, described] = await Promise.all([
      remote.search("q", 3),
      remote.weights(["a", "bcd"]),
      remote.describe(),
    ]);
    expect(hits).toMatchObject([{ passage: { id: "q", line: 3, kind: "prose" } }]);
    expect([...weights]).toEqual([
      ["a", 1],
      ["bcd", 3],
    ]);
    expect(described).toEqual(about);
    await expect(remote.open("a", 1, 2)).rejects.toThrow("gone");
  } finally {
    port1.close();
  }
});

it("rejects what is open, and what comes after, when the other thread ends", async () => {
  const { port1, port2 } = new MessageChannel();
  const remote = searchThrough(port1);
  const open = remote.describe();
  port2.close();
  await expect(open).rejects.toThrow("the thread of the index ended");
  await expect(remote.describe()).rejects.toThrow("the thread of the index ended");
});

it("ends the thread of the index, and all connections to it, when it is closed", async () => {
  const index = new FolderIndex({
    root: folderWith({ "a.md": "A basket holds 12 apples." }),
    notice: () => {},
  });
  const used = index.for();
  expect((await used.describe()).documents).toBe(1);
  await index.close();
  await expect(used.describe()).rejects.toThrow("the thread of the index ended");
});

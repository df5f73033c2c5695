import { MessageChannel } from "node:worker_threads";
import { expect, it } from "vitest";
import { RemoteSearch, serveSearch } from "../../../../src/server/researchers/sources/remote-search.js";
import type { SourceSearch } from "../../../../src/server/researchers/sources/search.js";

const summary = { files: 2, skipped: [] };
const search: SourceSearch = {
  search: async (query, limit, kind) => [
    { passage: { file: query, line: limit, lines: [], heading: "", kind: kind ?? "prose" }, score: 1 },
  ],
  tables: async () => [],
  weights: async (terms) => terms.map((term) => term.length),
  read: async () => {
    throw new Error("gone");
  },
  summary: async () => summary,
};

it("asks through a port what another thread answers, each call with its own answer", async () => {
  const { port1, port2 } = new MessageChannel();
  serveSearch(port2, search);
  const remote = new RemoteSearch(port1);
  try {
    const [hits, weights, about] = await Promise.all([
      remote.search("q", 3, "table"),
      remote.weights(["a", "bcd"]),
      remote.summary(),
    ]);
    expect(hits).toMatchObject([{ passage: { file: "q", line: 3, kind: "table" } }]);
    expect(weights).toEqual([1, 3]);
    expect(about).toEqual(summary);
    await expect(remote.read("a", 1, 2)).rejects.toThrow("gone");
  } finally {
    remote.close();
  }
});

it("rejects what is open, and what comes after, when the other thread ends", async () => {
  const { port1, port2 } = new MessageChannel();
  const remote = new RemoteSearch(port1);
  const open = remote.summary();
  port2.close();
  await expect(open).rejects.toThrow("the thread of the index ended");
  await expect(remote.summary()).rejects.toThrow("the index is closed");
});

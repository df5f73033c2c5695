import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createExtractiveResearcher } from "../../src/reader/passages/extractive-researcher.js";
import { folderWith } from "../support/folder.js";
import { KEY, serviceFor } from "../support/service.js";
import { ask, post } from "../support/wire.js";

const CONVERSATIONS = 100;
const CLIENTS = 16;
const MAX_RSS = 200 * 1_048_576;

it("100 conversations of 16 clients, really researched: none lost, memory flat", async () => {
  const root = folderWith({ "a.md": "A basket holds 12 apples.\n", "b.md": "A crate holds 40 pears.\n" });
  const researcher = createExtractiveResearcher({ root, notice: () => {} });
  const service = await serviceFor({ researcher });
  const before = process.memoryUsage().rss;
  const ids = new Set<string>();
  const client = async () => {
    while (ids.size < CONVERSATIONS) {
      const { json } = await post(service.baseUrl, "/api/v1/conversations", KEY, {
        prompt: "What does a basket hold?",
      });
      const id = String(json.data?.request_id);
      ids.add(id);
      await completed(service.baseUrl, id);
      const path = `/api/v1/conversation/${id}/output`;
      const output = await ask(service.baseUrl, { path, key: KEY });
      expect(String(output.json.data?.output)).toContain("> A basket holds 12 apples.");
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect(ids.size).toBeGreaterThanOrEqual(CONVERSATIONS);
  expect(process.memoryUsage().rss - before).toBeLessThan(MAX_RSS);
});

async function completed(baseUrl: string, id: string): Promise<void> {
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const { json } = await ask(baseUrl, { path: `/api/v1/conversation/${id}/status`, key: KEY });
    if (json.data?.status === "COMPLETED") return;
    expect(["PENDING", "PROCESSING"]).toContain(json.data?.status);
    await sleep(wait);
  }
}

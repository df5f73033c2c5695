import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type ExchangeRecord,
  folderExchanges,
} from "../../../../../src/server/researchers/model/session/exchanges.js";
import { hangs, modelEndpoint } from "../../../../support/model-endpoint.js";
import { ask, behaving, jobOf, MODEL_KEY } from "../../../../support/model-researcher.js";
import { temporaryFolder } from "../../../../support/run.js";

const sent: ExchangeRecord = { kind: "sent", hash: "a", estimate: 10 };
const ended: ExchangeRecord = {
  kind: "ended",
  hash: "a",
  tokens: 5,
  ms: 1,
  reply: { text: "ü\n", finish: "stop" },
};

it("a folder keeps the records of each conversation in their order, until they are deleted", async () => {
  const folder = join(temporaryFolder(), "exchanges");
  const store = folderExchanges(folder);
  expect(await store.read("r-1")).toEqual([]);
  await store.append("r-1", sent);
  await store.append("r-1", ended);
  await store.append("r-2", sent);
  expect(await folderExchanges(folder).read("r-1")).toEqual([sent, ended]);
  expect(statSync(join(folder, "r-1.ndjson")).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await store.delete("r-1");
  await store.delete("r-3");
  expect(readdirSync(folder)).toEqual(["r-2.ndjson"]);
});

it("a torn line is no record and spoils no other one", async () => {
  const folder = temporaryFolder();
  const store = folderExchanges(folder);
  await store.append("r", sent);
  appendFileSync(join(folder, "r.ndjson"), '{"kind":"ended","ha');
  await store.append("r", ended);
  expect(await store.read("r")).toEqual([sent, ended]);
});

it("an id that could leave the folder is refused", async () => {
  const store = folderExchanges(temporaryFolder());
  await expect(store.append("../x", sent)).rejects.toThrow("invalid request id");
});

describe("after a restart between two calls", () => {
  const limits = { tokens: 1_000_000, calls: 4, ms: 600_000 };

  /** Runs until the last call, which is under way as the process ends. */
  async function interrupted() {
    const exchanges = folderExchanges(temporaryFolder());
    const behave = behaving();
    const stop = new AbortController();
    let isDown = true;
    const endpoint = await modelEndpoint((request) => {
      if (!isDown || request.step !== "answer") return behave(request);
      stop.abort(new Error("killed"));
      return hangs;
    });
    await expect(ask(endpoint, { exchanges, limits }, jobOf(), stop.signal)).rejects.toThrow("killed");
    isDown = false;
    return { exchanges, endpoint };
  }

  it("what was replied is not asked for a second time", async () => {
    const { exchanges, endpoint } = await interrupted();
    expect(await ask(endpoint, { exchanges, limits })).toContain("The timeout is 5000 milliseconds. [1]");
    expect(endpoint.requests.map(({ step }) => step)).toEqual(["plan", "notes", "answer", "answer"]);
    // All is there now: a third process asks nothing.
    expect(await ask(endpoint, { exchanges, limits })).toContain("The timeout is 5000 milliseconds. [1]");
    expect(endpoint.requests).toHaveLength(4);
  });

  it("what was paid for counts, also if something else is asked now", async () => {
    const { exchanges } = await interrupted();
    const other = await modelEndpoint(behaving());
    expect(await ask(other, { exchanges, limits })).toContain("[1]");
    expect(other.requests.map(({ step }) => step)).toEqual(["notes"]);
  });

  it("the key is in none of what is kept", async () => {
    const { exchanges } = await interrupted();
    const kept = JSON.stringify(await exchanges.read("r-1"));
    expect(kept).toContain("keep-alive timeout");
    expect(kept).not.toContain(MODEL_KEY);
  });
});

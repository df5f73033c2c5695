import { describe, expect, it } from "vitest";
import { FolderContentStore } from "../../../src/server/conversations/local/content-store.js";
import { folderWith } from "../../support/folder.js";
import { hangs, modelEndpoint } from "../../support/model-endpoint.js";
import { ask, behaving, jobOf, MODEL_KEY } from "../../support/model-researcher.js";
import { VirtualClock } from "../../support/virtual-clock.js";

describe("after a restart between two calls", () => {
  const limits = { tokens: 1_000_000, calls: 5, ms: 600_000 };

  /** Runs until the last call, which is under way as the process ends. */
  async function interrupted() {
    const { exchanges } = new FolderContentStore(folderWith());
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
    expect(endpoint.requests.map(({ step }) => step)).toEqual(["plan", "notes", "answer", "answer", "check"]);
    // All is there now: a third process asks nothing.
    expect(await ask(endpoint, { exchanges, limits })).toContain("The timeout is 5000 milliseconds. [1]");
    expect(endpoint.requests).toHaveLength(5);
  });

  it("what was paid for counts, also if something else is asked now", async () => {
    const { exchanges } = await interrupted();
    const other = await modelEndpoint(behaving());
    expect(await ask(other, { exchanges, limits })).toContain("[1]");
    expect(other.requests.map(({ step }) => step)).toEqual(["notes", "answer"]);
  });

  it("the key is in none of what is kept", async () => {
    const { exchanges } = await interrupted();
    const kept = JSON.stringify(await exchanges.read("r-1"));
    expect(kept).toContain("keep-alive timeout");
    expect(kept).not.toContain(MODEL_KEY);
  });
});

it("a store that fails for a while costs nothing", async () => {
  const clock = new VirtualClock();
  let failures = 3;
  const records: object[] = [];
  const failing = async () => {
    failures -= 1;
    if (failures >= 0) throw new Error("no space");
  };
  const exchanges = {
    read: async () => failing().then(() => []),
    append: async (_id: string, record: object) => failing().then(() => void records.push(record)),
  };
  const notices: string[] = [];
  const endpoint = await modelEndpoint(behaving());
  expect(await ask(endpoint, { clock, exchanges, notices })).toContain("[1]");
  expect(endpoint.requests).toHaveLength(4);
  expect(records).toHaveLength(8);
  expect(notices).toEqual(Array(3).fill("the exchanges with the model cannot be stored: no space"));
  const broken = { read: async () => [], append: () => Promise.reject(new Error("no space")) };
  await expect(ask(endpoint, { clock, exchanges: broken })).rejects.toThrow("cannot be stored: no space");
  expect(endpoint.requests).toHaveLength(4);
});

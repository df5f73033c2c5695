import { expect, it } from "vitest";
import {
  StoreOutcomeUnknownError,
  StoreUnavailableError,
} from "../../../src/server/conversations/conversation-store.js";
import { createTooManyRequests } from "../../../src/server/http/responses.js";
import { KEY, memoryStore, serviceFor } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

it.each([
  [-1, "1", "1s"],
  [0, "1", "1s"],
  [1_000, "1", "1s"],
  [1_001, "2", "2s"],
  [3_599_001, "3600", "1h 00m"],
])("a wait of %d ms is rounded up to %s s, and is never none", (ms, seconds, words) => {
  const { status, code, message, headers } = createTooManyRequests("Enough.", ms);
  expect([status, code, headers]).toEqual([429, "RATE_LIMIT_EXCEEDED", { "Retry-After": seconds }]);
  expect(message).toBe(`Enough. The next one is allowed in ${words}.`);
  expect(createTooManyRequests("Enough", ms).message).toBe(message);
});

it("the hour of a key is refused for create and for stop, each by its own limit", async () => {
  const service = await serviceFor({ tier: "free" });
  const refused = async (path: string, limit: number) => {
    for (let i = 0; i < limit; i++) await post(service.baseUrl, path, KEY, { prompt: "x" });
    return post(service.baseUrl, path, KEY, { prompt: "x" });
  };
  for (const [operation, path, limit] of [
    ["create", "/api/v1/conversations", 10],
    ["stop", "/api/v1/conversation/x/stop", 20],
  ] as const) {
    const { status, json, headers } = await refused(path, limit);
    expect([status, json.error?.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
    expect(json.error?.message).toContain(
      `The limit of ${limit} ${operation} requests per hour is exceeded.`,
    );
    expect(Number(headers["retry-after"])).toBeGreaterThan(3_000);
  }
});

it("a store that fails is 503, said once, and an outcome that is not known is no answer at all", async () => {
  const store = await memoryStore();
  const logged: unknown[] = [];
  const errors = [
    Object.assign(new StoreUnavailableError("disk full"), { sqlstate: "53100" }),
    new StoreUnavailableError("disk full"),
    new StoreOutcomeUnknownError("cut off"),
  ];
  const get = store.get.bind(store);
  const service = await serviceFor({
    store: Object.assign(store, {
      get: async (...of: Parameters<typeof get>) => {
        const error = errors.shift();
        if (error) throw error;
        return get(...of);
      },
    }),
    log: (...line) => void logged.push(line),
  });
  const status = () => ask(service.baseUrl, { path: "/api/v1/conversation/x/status", key: KEY });
  for (let i = 0; i < 2; i++)
    expect(await status()).toMatchObject({
      ...{ status: 503, headers: { "retry-after": "2" } },
      json: {
        error: { code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("Nothing was done.") },
      },
    });
  await expect(status()).rejects.toThrow(/hang up|ECONNRESET/);
  expect((await status()).status).toBe(404);
  expect(logged).toEqual([["status requests fail: disk full", { sqlstate: "53100" }]]);
});

it("a defect is 500 and logged, and its message is not for clients", async () => {
  const store = await memoryStore();
  const logged: string[] = [];
  const get = () => Promise.reject(new Error("of our own"));
  const log = (line: string) => void logged.push(line);
  const service = await serviceFor({ store: Object.assign(store, { get }), log });
  const answer = await ask(service.baseUrl, { path: "/api/v1/conversation/x/status", key: KEY });
  const error = { code: "INTERNAL_ERROR", message: "Internal error." };
  expect([answer.status, answer.json.error]).toEqual([500, error]);
  expect(logged).toEqual([expect.stringContaining("of our own")]);
});

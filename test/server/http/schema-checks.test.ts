import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { openLocalStore } from "../../../src/server/conversations/local/open-local-store.js";
import { KeyFile } from "../../../src/server/keys/key-file.js";
import { createServiceKey } from "../../../src/server/keys/key-store.js";
import { folderWith } from "../../support/folder.js";
import { KEY, serviceFor } from "../../support/service.js";
import { post, raw } from "../../support/wire.js";

/** Draft 6 wants the values of an enum to differ: each is compared with each. */
const slow = (length: number) => ({
  $schema: "http://json-schema.org/draft-06/schema#",
  enum: Array.from({ length }, (_, n) => ({ n })),
});
/** Takes long, and is none. */
const HOSTILE = { ...slow(2_000), allOf: [{ $ref: "https://example.org/none.json" }] };

it("the schemas of one key neither hold up those of another, nor count against its hour", async () => {
  const dataDir = folderWith();
  const keys = new KeyFile(dataDir, systemClock);
  const added = ["mallory", "alice"].map((name) =>
    createServiceKey({
      ...{ name, tier: "enterprise" as const, limits: { create: 1, stop: 1 } },
      ...{ now: systemClock.now(), validMs: undefined },
    }),
  );
  for (const { key } of added) await keys.add(key);
  const [mallory = "", alice = ""] = added.map(({ apiKey }) => apiKey);
  const service = await serviceFor({ dataDir });
  const order: string[] = [];
  const create = async (key: string, output_schema: object) => {
    const body = { prompt: "x", structured_output: true, output_schema };
    const answer = await post(service.baseUrl, "/api/v1/conversations", key, body);
    order.push(`${key === alice ? "alice" : "mallory"} ${answer.status}`);
    return answer;
  };
  const hostile = Array.from({ length: 3 }, () => create(mallory, HOSTILE));
  await create(alice, { type: "object" });
  await Promise.all(hostile);
  expect(order.at(-1)).toBe("mallory 400");
  expect(order.sort()).toEqual(["alice 200", "mallory 400", "mallory 400", "mallory 400"]);
  expect((await create(mallory, { type: "object" })).status).toBe(200);
  expect((await create(mallory, { type: "object" })).json.error?.message).toContain("1 create requests");
});

it("what waits for its check when its client leaves is not created", async () => {
  const store = await openLocalStore({ pendingMs: 60_000, clock: systemClock, log: () => {} });
  const service = await serviceFor({ store });
  const create = (output_schema: object) =>
    post(service.baseUrl, "/api/v1/conversations", KEY, {
      prompt: "x",
      structured_output: true,
      output_schema,
    });
  const first = create(slow(8_000));
  const body = JSON.stringify({ prompt: "left", structured_output: true, output_schema: {} });
  const lines = ["POST /api/v1/conversations HTTP/1.1", "Host: localhost", `Authorization: Bearer ${KEY}`];
  const head = [...lines, "Content-Type: application/json", `Content-Length: ${body.length}`, "", ""];
  expect(await raw(service.baseUrl, head.join("\r\n") + body, 100)).toBe("");
  // Its turn comes after the one that has left. A fast machine accepts the slow schema, a busy one refuses it.
  const answers = [await create({}), await first];
  const ids = answers.flatMap(({ json }) => (json.data ? [json.data.request_id] : []));
  const { conversations } = await store.overview.listNewest(9);
  expect(conversations.map(({ requestId }) => requestId)).toEqual(ids);
});

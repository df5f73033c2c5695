import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { computeRowDigest, computeUnsentKey } from "../../src/client/store/history/equal-creates.js";
import { hashApiKey } from "../../src/client/store/history/history-records.js";
import { folderWith } from "../support/folder.js";
import { foldersIn } from "../support/home.js";
import { connectMcp } from "../support/mcp.js";
import { ProviderDouble } from "../support/providers/double.js";

test("without a model, options and a follow-up, a row and a create have the names they always had", () => {
  const before = createHash("sha256").update('["why",false,null]').digest("hex").slice(0, 24);
  expect(computeRowDigest({ prompt: "why" })).toBe(before);
  const wanted = { origin: "https://a.example", apiKey: "k", body: { prompt: "why" } };
  expect(computeUnsentKey(wanted)).toBe(`["https://a.example","${hashApiKey("k")}","why",false,null]`);
  for (const extra of [{ model: "m" }, { options: { a: 1 } }, { after: "x" }]) {
    expect(computeRowDigest({ prompt: "why", ...extra })).not.toBe(before);
    expect(computeUnsentKey({ ...wanted, body: { prompt: "why", ...extra } })).not.toBe(
      computeUnsentKey(wanted),
    );
  }
});

test("an agent's repeated call with the same model makes one request, with another model another one", async () => {
  const double = await ProviderDouble.start("exa");
  const home = folderWith();
  const client = await connectMcp({ home, env: { HOME: home, ...foldersIn(home), ...double.env } });
  const create = (args: object) => client.call("research_create", { prompt: "why", ...args });
  const first = await create({});
  expect(first.isError, first.text).toBe(false);
  expect((await create({})).content).toMatchObject({ request_id: first.content.request_id, reused: true });
  // The default is a model as well.
  expect((await create({ model: "medium" })).content).toMatchObject({ reused: true });
  expect((await create({ model: "high" })).content).toMatchObject({ reused: false });
  expect(double.server.count("create")).toBe(2);
  expect(double.problems).toEqual([]);
});

test("an agent that repeats a question whose result was cut short is told that nothing more comes of it", async () => {
  const double = await ProviderDouble.start("openai");
  const home = folderWith();
  const client = await connectMcp({ home, env: { HOME: home, ...foldersIn(home), ...double.env } });
  const create = () => client.call("research_create", { prompt: "why => incomplete" });
  const { content } = await create();
  expect(content.next).toMatch(/^research_wait with ids/);
  await client.call("research_wait", { ids: [content.request_id] });
  const again = await create();
  expect(again.content).toMatchObject({ request_id: content.request_id, reused: true, status: "FAILED" });
  expect(again.content.next).toBe(
    "it ended with a part of a result and is not sent again; pass again: true to create a new request",
  );
  expect(double.server.count("create")).toBe(1);
});

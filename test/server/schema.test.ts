import { expect, it } from "vitest";
import { compileSchema, misfits } from "../../src/server/schema.js";

it("compiles draft 2020-12, and draft-07 where the schema says so", async () => {
  const tuple = { prefixItems: [{ type: "string" }] };
  expect(await misfits(tuple, [1])).toEqual(["/0 must be string"]);
  const seven = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] };
  expect(await misfits(seven, [1])).toEqual(["/0 must be string"]);
  expect(await misfits(seven, ["a"])).toEqual([]);
});

it.each([
  [{ type: "strin" }, /type/],
  [{ $ref: "https://example.org/other.json" }, /can't resolve/],
  [{ $schema: "http://json-schema.org/draft-04/schema#" }, /draft-04/],
  [{ pattern: "(" }, /pattern|regular/i],
])("says why %j is none", async (schema, why) => {
  expect(await compileSchema(schema)).toEqual({ ok: false, reason: expect.stringMatching(why) });
});

it("keeps nothing of one schema for the next", async () => {
  const schema = (type: string) => ({ $id: "https://example.org/same", type });
  expect(await misfits(schema("string"), 1)).toHaveLength(1);
  expect(await misfits(schema("number"), 1)).toHaveLength(0);
});

it("gives up on a pattern that takes for ever", async () => {
  expect(await misfits({ pattern: "^(a+)+$" }, `${"a".repeat(40)}!`)).toEqual([
    "checking it took more than 2 s",
  ]);
});

it("takes words and formats that it does not know, and says nothing about them", async () => {
  const said: unknown[] = [];
  const { warn, error } = console;
  Object.assign(console, {
    warn: (...args: unknown[]) => said.push(args),
    error: (...args: unknown[]) => said.push(args),
  });
  try {
    expect(await misfits({ type: "string", format: "shoe-size", "x-note": 1 }, "44")).toEqual([]);
  } finally {
    Object.assign(console, { warn, error });
  }
  expect(said).toEqual([]);
});

it("refuses what would overflow a stack, or take seconds", async () => {
  let deep: object = {};
  for (let i = 0; i < 200; i++) deep = { a: deep };
  expect(await compileSchema({ default: deep })).toEqual({
    ok: false,
    reason: "it is nested more than 100 levels deep",
  });
  const wide = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`p${i}`, {}]));
  expect(await compileSchema({ properties: wide })).toEqual({
    ok: false,
    reason: "it has more than 20000 parts",
  });
});

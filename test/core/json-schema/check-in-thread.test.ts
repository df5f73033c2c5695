import { describe, expect, it } from "vitest";
import { checkSchema, checkValue, describeProblem } from "../../../src/core/json-schema/check-in-thread.js";

const json = JSON.stringify;

const tuple = [{ type: "string" }];
it.each([
  [undefined, { prefixItems: tuple }],
  ["https://json-schema.org/draft/2020-12/schema", { prefixItems: tuple }],
  ["https://json-schema.org/draft/2019-09/schema", { items: tuple }],
  ["http://json-schema.org/draft-07/schema#", { items: tuple }],
  ["http://json-schema.org/draft-06/schema#", { items: tuple }],
])("knows the draft %s", async ($schema, rest) => {
  const schema = $schema === undefined ? rest : { $schema, ...rest };
  expect(await checkSchema(schema)).toBeUndefined();
  expect(await checkValue(schema, "[1]")).toEqual({ path: "/0", message: "must be string" });
  expect(await checkValue(schema, '["a"]')).toBeUndefined();
});

it("says where a schema is none", async () => {
  const problem = await checkSchema({ type: "strin" });
  expect(problem && describeProblem(problem, "the top level")).toMatch(/^at \/type: /);
});

it("tells how long the check took, also of what is no schema", async () => {
  const times: number[] = [];
  for (const schema of [{}, { type: "strin" }]) await checkSchema(schema, undefined, (ms) => times.push(ms));
  expect(times).toHaveLength(2);
  for (const ms of times) expect(ms).toBeGreaterThan(0);
});

it("keeps nothing of one schema for the next, whatever its $id", async () => {
  const meta = "https://json-schema.org/draft/2020-12/schema";
  for (const $id of ["https://example.org/same", meta]) {
    await checkSchema({ $id, type: "object" });
    await checkSchema({ properties: { a: { $id, type: "string" } } });
    expect(await checkSchema({ $id: "https://example.org/same", type: "number" })).toBeUndefined();
    expect(await checkSchema({ $schema: meta, type: "string" })).toBeUndefined();
  }
});

it("takes words and formats that it does not know", async () => {
  expect(await checkValue({ type: "string", format: "shoe-size", "x-note": 1 }, '"44"')).toBeUndefined();
});

it("refuses what would overflow a stack, or take seconds", async () => {
  let deep: object = {};
  for (let i = 0; i < 200; i++) deep = { a: deep };
  expect(await checkSchema({ default: deep })).toEqual({
    message: "it is nested more than 100 levels deep",
  });
  const wide = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`p${i}`, {}]));
  expect(await checkSchema({ properties: wide })).toEqual({ message: "it has more than 20000 parts" });
});

describe("hostile schemas:", () => {
  it("references to one definition are compiled as one", async () => {
    const names = Array.from({ length: 500 }, (_, i) => `p${i}`);
    const big = {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    };
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/big" }]));
    expect(await checkSchema({ $defs: { big }, properties })).toBeUndefined();
  });

  it("a pattern that takes for ever is given up, and the next check is answered", async () => {
    const hostile = checkValue({ pattern: "^(a+)+$" }, json(`${"a".repeat(40)}!`));
    const next = checkValue({ type: "string" }, "1");
    expect(await hostile).toEqual({ message: "it cannot be checked: it takes more than 5 s" });
    expect(await next).toEqual({ path: "", message: "must be string" });
  });

  it("an abort ends the check before its time is over", async () => {
    const stop = new AbortController();
    const checking = checkValue({ pattern: "^(a+)+$" }, json(`${"a".repeat(40)}!`), stop.signal);
    stop.abort(new Error("enough"));
    await expect(checking).rejects.toThrow("enough");
    expect(await checkSchema({})).toBeUndefined();
  });

  it("a value nested without end is a problem, and no crash", async () => {
    const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
    expect(await checkValue({ items: { $ref: "#" } }, deep)).toEqual({
      message: "it is nested too deep to be checked",
    });
    expect(await checkValue({ type: "array" }, deep)).toBeUndefined();
  });
});

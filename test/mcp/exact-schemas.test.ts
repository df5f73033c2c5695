import { expect, test } from "vitest";
import { exactJson } from "../../src/json/exact-json.js";
import { ExactSchemas } from "../../src/mcp/exact-schemas.js";

const SCHEMA = '{"maximum":12345678901234567890,"title":"\\u00e9é"}';
const call = (id: unknown, schema: string) =>
  `{"id":${JSON.stringify(id)},"params":{"arguments":{"prompt":"x","schema": ${schema}}}}\n`;

test.each([1, 7, 10_000])(
  "the schema of each call is restored once, of messages in pieces of %d bytes",
  async (size) => {
    const text = `${call(1, SCHEMA)}{"broken "schema"\n"schema"\n${call("1", '{"minimum":-0}')}${call(2, "null")}`;
    const bytes = Buffer.from(text);
    const schemas = new ExactSchemas();
    for (let at = 0; at < bytes.length; at += size) schemas.write(bytes.subarray(at, at + size));
    schemas.end();
    const passed = Buffer.concat(await schemas.toArray());
    expect(passed.toString("utf8")).toBe(text);
    const restored = (id: unknown) => exactJson(schemas.restore(id, { schema: { rounded: true } })?.schema);
    expect([restored(1), restored("1"), restored(2)]).toEqual([SCHEMA, '{"minimum":-0}', '{"rounded":true}']);
    expect(restored(1)).toBe('{"rounded":true}');
    expect(schemas.restore(3, undefined)).toBeUndefined();
  },
);

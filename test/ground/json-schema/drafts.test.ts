import { expect, test } from "vitest";
import { compilerFor } from "../../../src/ground/json-schema/validator.js";

const options = { strict: false, logger: false } as const;
const JSON_SCHEMA = "json-schema.org";

test.each([
  [undefined],
  [`https://${JSON_SCHEMA}/draft/2020-12/schema`],
  [`https://${JSON_SCHEMA}/draft/2019-09/schema`],
  [`http://${JSON_SCHEMA}/draft-07/schema#`],
  [`http://${JSON_SCHEMA}/draft-07/schema`],
  [`http://${JSON_SCHEMA}/draft-06/schema#`],
])("a schema of %s is compiled", ($schema) => {
  const compiler = compilerFor($schema, options);
  const schema = { ...($schema && { $schema }), type: "object" };
  expect(compiler.validateSchema(schema)).toBe(true);
  expect([compiler.validate(schema, {}), compiler.validate(schema, 7)]).toEqual([true, false]);
});

test("without a draft it is the current one, in which a tuple has prefixItems", () => {
  const validate = compilerFor(undefined, options).compile({ prefixItems: [{ type: "string" }] });
  expect([validate(["x"]), validate([7])]).toEqual([true, false]);
});

test.each<[unknown, string]>([
  [7, "$schema must be a string"],
  ["http://json-schema.org/draft-04/schema#", "only 2020-12, 2019-09, draft-07 or draft-06 can be used"],
  ["constructor", "its $schema is constructor, and only"],
])("%j is no draft that can be used", ($schema, message) => {
  expect(() => compilerFor($schema, options)).toThrow(message);
});

test("a draft-06 schema without $schema is checked as draft-06, in which `if` is no keyword", () => {
  const draft06 = compilerFor("https://json-schema.org/draft-06/schema", options);
  const draft07 = compilerFor("https://json-schema.org/draft-07/schema", options);
  expect([draft06.validateSchema({ if: 7 }), draft07.validateSchema({ if: 7 })]).toEqual([true, false]);
});

import { expect, test } from "vitest";
import { findFirstSchemaProblem } from "../../../src/core/json-schema/validator.js";

const schemaOf = ($schema: string) => JSON.stringify({ $schema, type: "object" });

test.each([
  "http://json-schema.org/draft-06/schema#",
  "https://json-schema.org/draft-06/schema",
  "http://json-schema.org/draft-07/schema#",
  "https://json-schema.org/draft-07/schema#",
  "http://json-schema.org/draft/2019-09/schema",
  "https://json-schema.org/draft/2020-12/schema",
  "http://json-schema.org/draft/2020-12/schema#",
])("a schema of %s is valid, by http as well as https, and checks values", ($schema) => {
  const schema = schemaOf($schema);
  expect(findFirstSchemaProblem({ schema })).toBeUndefined();
  expect(findFirstSchemaProblem({ schema, value: "{}" })).toBeUndefined();
  expect(findFirstSchemaProblem({ schema, value: "7" })).toEqual({ path: "", message: "must be object" });
});

test.each([
  ['{"type":"objekt"}', "/type"],
  ['{"$schema":"http://json-schema.org/draft-07/schema#","required":7}', "/required"],
])("in %s the first problem is at %s", (schema, path) => {
  expect(findFirstSchemaProblem({ schema })).toMatchObject({ path });
});

test.each([
  ['{"$schema":"http://json-schema.org/draft-04/schema#"}', /only 2020-12/],
  ['{"$schema":"constructor"}', /its \$schema is constructor, and only/],
  ['{"$schema":7}', /must be a string/],
  ['{"$ref":"#/definitions/gone"}', /gone/],
  ['{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}', /form a cycle/],
  ['{"pattern":"("}', /./],
])("%s is an invalid schema", (schema, message) => {
  expect(findFirstSchemaProblem({ schema })?.message).toMatch(message);
});

test("allowed values are named", () => {
  expect(findFirstSchemaProblem({ schema: '{"enum":["a","b"]}', value: '"c"' })?.message).toMatch(
    / \(a, b\)$/,
  );
});

test("1e400 is a number, though JavaScript reads it as Infinity", () => {
  const schema = '{"type":"number","maximum":1e400}';
  expect(findFirstSchemaProblem({ schema })).toBeUndefined();
  expect(findFirstSchemaProblem({ schema, value: "1e400" })).toBeUndefined();
  expect(findFirstSchemaProblem({ schema: '{"maximum":5}', value: "1e400" })).toEqual({
    path: "",
    message: "must be <= 5",
  });
});

test("a draft-06 schema is checked as draft-06, in which `$comment` is no keyword", () => {
  const problems = ["06", "07"].map((draft) => {
    const $schema = `https://json-schema.org/draft-${draft}/schema`;
    return findFirstSchemaProblem({ schema: JSON.stringify({ $schema, $comment: 7 }) });
  });
  expect(problems).toEqual([undefined, { path: "/$comment", message: "must be string" }]);
});

import { expect, test } from "vitest";
import { requestBody } from "../../../src/ground/protocol/conversation.js";

test.each([
  [undefined, false, { prompt: "p" }],
  [undefined, true, { prompt: "p", structured_output: true }],
  [{}, false, { prompt: "p", structured_output: true, output_schema: {} }],
])("with the schema %j and --structured %s is sent %j", (schema, structured, body) => {
  expect(requestBody("p", schema, structured)).toEqual(body);
});

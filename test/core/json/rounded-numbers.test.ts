import { expect, test } from "vitest";
import { parseExact, roundedNumbers } from "../../../src/core/json/exact-json.js";

test.each<[string, string[]]>([
  ["12345678901234567890", ["12345678901234567890"]],
  ["[1e400,-9007199254740993]", ["-9007199254740993", "1e400"]],
  ['{"a":0.1234567890123456789,"12345678901234567890":"98765432109876543210"}', ["0.1234567890123456789"]],
  ["[0,-0,1,1.0,-1.50,100,1e2,1E+2,1e21,0.1,5e-324,0.30000000000000004,123456789012345680000]", []],
  ['{"t":true,"n":null,"s":"-"}', []],
])("of %s: %j", (text, numbers) => {
  expect(roundedNumbers({ in: [parseExact(`[${text}]`)] })).toEqual(numbers);
});

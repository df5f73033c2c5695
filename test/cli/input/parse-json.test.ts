import { expect, test } from "vitest";
import { parseJson } from "../../../src/cli/input/parse-json.js";

test.each([
  ["{", "x is not JSON: line 1, column 2: "],
  ['{\n  "a": 1,,\n}', "x is not JSON: line 2, column 10: "],
  ["", "x is not JSON: line 1, column 1: "],
  ["[1] // no", "x is not JSON: line 1, column 5: "],
  ["[1,]", "x is not JSON: line 1, column 4: "],
])("%j is an error that names the place", async (text, message) => {
  await expect(parseJson(text, "x")).rejects.toThrow(message);
  await expect(parseJson(text, "x")).rejects.toMatchObject({ code: "USAGE" });
  expect(await parseJson("[1]", "x")).toEqual([1]);
});

import { expect, test } from "vitest";
import { rowName } from "../../src/machine/batch.js";

test("a row is named by its key, else by its line", () => {
  expect(rowName({ key: "acme", line: 3 })).toBe("acme");
  expect(rowName({ key: undefined, line: 3 })).toBe("line 3");
});

import { expect, test } from "vitest";
import { explainIfTooLarge } from "../../../src/core/json-schema/check-in-thread.js";

const nested = (depth: number): unknown => (depth === 0 ? {} : { a: nested(depth - 1) });
const wide = (parts: number) => ({ enum: Array.from({ length: parts - 1 }, (_, i) => i) });

test.each<[string, unknown, string | undefined]>([
  ["nothing", null, undefined],
  ["a text", "x", undefined],
  ["100 levels", nested(100), undefined],
  ["101 levels", nested(101), "it is nested more than 100 levels deep"],
  ["20,000 parts", wide(20_000), undefined],
  ["20,001 parts", wide(20_001), "it has more than 20000 parts"],
  ["20,001 parts in several places", [wide(10_000), wide(10_000)], "it has more than 20000 parts"],
])("a schema of %s", (_, value, reason) => {
  expect(explainIfTooLarge(value)).toBe(reason);
});

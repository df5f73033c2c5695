import { describe, expect, test } from "vitest";
import { formatIsoDate, parseDuration } from "../../../src/core/text/time-format.js";

describe("a duration", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["10m", 600_000],
    ["2h", 7_200_000],
    ["3d", 259_200_000],
    ["90", 90_000],
    ["0", 0],
    ["1.5h", 5_400_000],
    ["30d", 2_592_000_000],
    ["123456789012", 123_456_789_012_000],
    ["0.000000001d", 0.0864],
  ])("%s is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ...["", " 5s", "5 s", "-5", "5x", "1h30m", "1e3", "s", "0x10", "Infinity", "５s", "1.s", ".5s"],
    ...["1234567890123", "0.0000000001", "5s\n", "5sx"],
  ])("%j is invalid", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [Date.UTC(2030, 0, 1), "2030-01-01T00:00:00.000Z"],
  [1e300, "beyond all dates"],
  [Number.POSITIVE_INFINITY, "beyond all dates"],
])("%d is %s", (at, text) => {
  expect(formatIsoDate(at)).toBe(text);
});

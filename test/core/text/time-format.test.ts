import { expect, test } from "vitest";
import { formatDuration, formatExactDuration } from "../../../src/core/text/time-format.js";

test.each([
  [-1, "0s"],
  [0, "0s"],
  [999, "0s"],
  [1_000, "1s"],
  [59_999, "59s"],
  [60_000, "1m 00s"],
  [185_000, "3m 05s"],
  [3_599_999, "59m 59s"],
  [3_600_000, "1h 00m"],
  [7_440_000, "2h 04m"],
  [86_399_999, "23h 59m"],
  [86_400_000, "1d 00h"],
  [90_000_000, "1d 01h"],
])("a duration of %d ms is %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [0.0864, "0.0864ms"],
  [999, "999ms"],
  [1_000, "1s"],
  [1_500, "1500ms"],
  [60_000, "1m"],
  [185_000, "185s"],
  [30 * 86_400_000, "30d"],
])("%d ms as they were given are %s", (ms, text) => {
  expect(formatExactDuration(ms)).toBe(text);
});

import { expect, test } from "vitest";
import { describeUsualLength } from "../../../../src/cli/requests/format-progress.js";

const minutes = (...list: number[]) => list.map((one) => one * 60_000);

test.each([
  [minutes(1, 2, 3, 4), undefined],
  [minutes(9, 1, 5, 3, 7), "usually 3m 00s to 7m 00s"],
  [minutes(4, 4, 4, 4, 4), "usually 4m 00s"],
  [minutes(1, 1, 2, 2, 3, 3, 99, 99, 100), "usually 2m 00s to 1h 39m"],
  [[], undefined],
  [[0, 0, 0, 4_000, 4_999], undefined],
  [[0, 0, 0, 5_000, 5_000], "usually 0s to 5s"],
])("the middle half of %j", (durations, expected) => {
  const history = { listDurations: () => durations };
  expect(describeUsualLength({ origin: "o", history } as never)).toBe(expected);
});

test("the last 200 runs of the origin in force count", () => {
  const asked: unknown[] = [];
  const durations = (...args: unknown[]) => {
    asked.push(args);
    return minutes(1, 1, 1, 1, 1);
  };
  expect(describeUsualLength({ origin: "o", history: { listDurations: durations } } as never)).toBe(
    "usually 1m 00s",
  );
  expect(asked).toEqual([["o", 200]]);
  expect(describeUsualLength({ origin: "o", history: undefined } as never)).toBeUndefined();
});

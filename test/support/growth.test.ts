import { expect, test } from "vitest";
import { isLinear } from "./growth.js";

/** Does something `rounds` times that no compiler leaves out. */
function spin(rounds: number): number {
  let sum = 0;
  for (let round = 0; round < rounds; round++) sum = (sum * 31 + round) % 1_000_003;
  return sum;
}

test.each<[string, (length: number) => number, boolean]>([
  ["a linear cost", (length) => spin(200 * length), true],
  ["a quadratic cost", (length) => spin(10 * length * length), false],
])("%s is told from the other kind", (_, work, answer) => {
  expect(isLinear(work, 150)).toBe(answer);
});

import { expect, test } from "vitest";
import { fixedWith, logNormal, seeded, simulate } from "../../../../bench/support/runs.js";
import {
  computeAdaptiveInterval,
  ENOUGH_RUNS,
  learnPollInterval,
} from "../../../../src/client/calls/watch/poll-interval.js";
import type { PollInterval } from "../../../../src/client/calls/watch/watch-types.js";

const MINUTE = 60_000;
const random = seeded(1);
const shape = { median: 4 * MINUTE, p95: 25 * MINUTE };
const lengths = logNormal({ count: 2_000, ...shape }, random);
const learnt = (count: number) => learnPollInterval(logNormal({ count, ...shape }, random));

test("what is known makes an end seen sooner for no more polls than by age", () => {
  const ours = simulate(learnt(200) as PollInterval, lengths, random);
  const byAge = simulate(computeAdaptiveInterval, lengths, random);
  expect(ours.share).toBeLessThan(Math.min(byAge.share, 0.025));
  expect(ours.polls).toBeLessThan(byAge.polls);
});

test("with as few as 30 known, the lag is at most nine tenths of a fixed interval's with as many polls", () => {
  for (let i = 0; i < 5; i++) {
    const ours = simulate(learnt(ENOUGH_RUNS) as PollInterval, lengths, random);
    expect(ours.share).toBeLessThan(0.9 * fixedWith(ours.polls, lengths, random).share);
  }
});

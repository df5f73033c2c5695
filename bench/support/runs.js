/**
 * Random numbers in [0, 1) that are the same for the same seed (mulberry32).
 * @param {number} seed
 */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Log-normal run lengths in milliseconds.
 * @param {{ count: number, median: number, p95: number }} shape
 * @param {() => number} random
 */
export function logNormal({ count, median, p95 }, random) {
  // 1.6449 is the 95th percentile of the standard normal distribution.
  const sigma = Math.log(p95 / median) / 1.6449;
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: count }, () => median * Math.exp(sigma * normal()));
}

/**
 * Polls each run at a pace until a poll finds it ended.
 * @param {(ageMs: number, random: number, poll: number) => number} pace
 * @param {readonly number[]} lengths in milliseconds
 * @param {() => number} random
 * @returns means over the runs: polls, lag in seconds, lag as a share of the run's length
 */
export function simulate(pace, lengths, random) {
  let polls = 0;
  let lag = 0;
  let share = 0;
  for (const length of lengths) {
    let age = 0;
    let poll = 1;
    for (; age < length; poll++) age += pace(age, random(), poll);
    polls += poll;
    lag += age - length;
    share += (age - length) / length;
  }
  const { length: count } = lengths;
  return { polls: polls / count, lagSeconds: lag / count / 1_000, share: share / count };
}

/**
 * The fixed interval that takes as many polls, and what it comes to.
 * @param {number} polls
 * @param {readonly number[]} lengths
 * @param {() => number} random
 */
export function fixedWith(polls, lengths, random) {
  let [low, high] = [10, 600_000];
  for (let i = 0; i < 40; i++) {
    const middle = Math.sqrt(low * high);
    if (simulate(() => middle, lengths, random).polls > polls) low = middle;
    else high = middle;
  }
  return { interval: high, ...simulate(() => high, lengths, random) };
}

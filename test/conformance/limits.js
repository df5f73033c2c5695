import { created, failure, must, success } from "./expect.js";
import { create, stop } from "./http.js";

/** @typedef {import("./http.js").Target} Target */

/** §8, requests per hour. */
const LIMITS = { free: { create: 10, stop: 20 }, pro: { create: 100, stop: 200 } };

/**
 * §8: uses up one whole hour of a key that has not been used in it. `Retry-After`, and that stop is limited by a 429,
 * are choices of `research serve`.
 *
 * @type {Record<string, (target: Target) => Promise<void>>}
 */
export const LIMITED = {
  async "§8 create is limited by the hour; what is refused is not counted"(target) {
    const limit = LIMITS[target.tier ?? "free"].create;
    for (let i = 0; i < limit; i++) await created(target);
    for (let i = 0; i < 3; i++) {
      const answer = await create(target, { prompt: "one too many" });
      failure(answer, 429, "RATE_LIMIT_EXCEEDED");
      seconds(answer.headers["retry-after"]);
    }
  },

  async "§8 stop is limited by the hour, whatever it finds"(target) {
    const limit = LIMITS[target.tier ?? "free"].stop;
    for (let i = 0; i < limit; i++) failure(await stop(target, "nobody"), 404, "REQUEST_NOT_FOUND");
    const answer = await stop(target, "nobody");
    failure(answer, 429, "RATE_LIMIT_EXCEEDED");
    seconds(answer.headers["retry-after"]);
  },
};

/**
 * With a clock that the test moves: after `Retry-After` exactly one more create is taken.
 *
 * @param {Target} target
 * @param {(ms: number) => Promise<void>} wait
 */
export async function rollingWindow(target, wait) {
  const limit = LIMITS[target.tier ?? "free"].create;
  for (let i = 0; i < limit; i++) {
    await created(target);
    await wait(1_300);
  }
  for (let round = 0; round < 3; round++) {
    const answer = await create(target, { prompt: "one too many" });
    failure(answer, 429, "RATE_LIMIT_EXCEEDED");
    const after = seconds(answer.headers["retry-after"]);
    await wait((after - 1) * 1_000);
    failure(await create(target, { prompt: "a second too early" }), 429, "RATE_LIMIT_EXCEEDED");
    await wait(1_000);
    success(await create(target, { prompt: "just in time" }));
  }
}

/** @param {string | undefined} value */
function seconds(value) {
  const isWithinHour = /^[1-9]\d*$/.test(value ?? "") && Number(value) <= 3_600;
  must(isWithinHour, "Retry-After of a 429", "seconds, at most 3600", value);
  return Number(value);
}

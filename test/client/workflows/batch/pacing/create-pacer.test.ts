import { describe, expect, test } from "vitest";
import { RefusedError } from "../../../../../src/client/calls/errors.js";
import {
  CreatePacer,
  type CreatePacerOptions,
} from "../../../../../src/client/workflows/batch/create-pacer.js";
import { QuotaExceededError } from "../../../../../src/client/workflows/errors.js";
import type { Clock } from "../../../../../src/core/clock.js";

const HOUR = 3_600_000;
const MARGIN = 1_000;
const NOW = 100 * HOUR;

function pacer(options: Partial<CreatePacerOptions> = {}) {
  let now = NOW;
  const clock = { now: () => now } as Clock;
  const made = new CreatePacer({
    ...{ clock, attempts: () => undefined, limit: undefined, own: [], ...options },
  });
  return {
    pacer: made,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

function rateLimited(retryAfter?: number): RefusedError {
  return new RefusedError("rate-limited", true, "RATE_LIMIT_EXCEEDED", "slow down", { retryAfter });
}

describe("the next create", () => {
  test("goes at once without a limit", () => {
    expect(pacer({ own: [NOW, NOW, NOW] }).pacer.findNextAt()).toBe(NOW);
  });

  test("waits until enough of this batch's own creates are an hour old, and a margin", () => {
    const { pacer: paced } = pacer({ limit: 2, own: [NOW - 20 * 60_000, NOW - 10] });
    expect(paced.findNextAt()).toBe(NOW + 40 * 60_000 + MARGIN);
  });

  test("waits for what was sent since", () => {
    const { pacer: paced, pass } = pacer({ limit: 1 });
    expect(paced.findNextAt()).toBe(NOW);
    paced.noteSent();
    pass(5_000);
    expect(paced.findNextAt()).toBe(NOW + HOUR + MARGIN);
  });

  test("waits an hour and no more for what a wrong clock dated ahead", () => {
    const { pacer: paced, pass } = pacer({ limit: 1, own: [NOW + 365 * 24 * HOUR] });
    expect(paced.findNextAt()).toBe(NOW + HOUR + MARGIN);
    expect(paced.listTimes(1)).toEqual([NOW + HOUR]);
    expect(paced.estimateOutlook()?.left).toBe(0);
    pass(HOUR + MARGIN);
    expect(paced.findNextAt()).toBe(NOW + HOUR + MARGIN);
  });
});

describe("the outlook", () => {
  test("is unknown without a limit", () => {
    expect(pacer().pacer.estimateOutlook()).toBeUndefined();
    expect(pacer({ limit: Number.POSITIVE_INFINITY }).pacer.estimateOutlook()).toBeUndefined();
  });

  test("counts what all processes of this machine sent", () => {
    const attempts = () => [NOW - 1, NOW - 2, NOW - 3];
    expect(pacer({ limit: 5, attempts }).pacer.estimateOutlook()).toEqual({ left: 2, nextAt: NOW });
  });

  test("has nothing left while a 429 blocks", () => {
    const { pacer: paced } = pacer({ limit: 10 });
    paced.noteRefused(rateLimited(90));
    expect(paced.estimateOutlook()).toEqual({ left: 0, nextAt: NOW + 90_000 });
    const { pacer: unlimited } = pacer();
    unlimited.noteRefused(rateLimited(90));
    expect(unlimited.estimateOutlook()).toEqual({ left: 0, nextAt: NOW + 90_000 });
  });

  test("counts again after each create", () => {
    const sent: number[] = [];
    const { pacer: paced } = pacer({ limit: 3, attempts: () => sent });
    sent.push(NOW);
    paced.noteSent();
    expect(paced.estimateOutlook()?.left).toBe(2);
    sent.push(NOW, NOW);
    paced.noteSent();
    expect(paced.findNextAt()).toBe(NOW + HOUR + MARGIN);
  });
});

describe("a refused create", () => {
  test("is none if it failed for another reason", () => {
    expect(pacer().pacer.noteRefused(new Error("reset"))).toBeUndefined();
    const invalid = new RefusedError("invalid-input", true, "VALIDATION_ERROR", "no");
    expect(pacer().pacer.noteRefused(invalid)).toBeUndefined();
  });

  test("by this machine's own count waits for the hour", () => {
    const error = new QuotaExceededError(2, NOW + 5_000, NOW);
    expect(pacer({ limit: 2 }).pacer.noteRefused(error)).toBe(NOW + 5_000);
  });

  test("blocks until the service allows the next", () => {
    const { pacer: paced } = pacer();
    expect(paced.noteRefused(rateLimited(30))).toBe(NOW + 30_000);
    expect(paced.findNextAt()).toBe(NOW + 30_000);
    expect(paced.listTimes(2)).toEqual([NOW + 30_000, NOW + 30_000]);
  });

  test("falls back to this batch's own creates if the history is off", () => {
    const { pacer: paced } = pacer({ own: [NOW - 1_800_000] });
    expect(paced.noteRefused(rateLimited())).toBe(NOW + 1_800_000);
  });
});

describe("a create counts for an hour and a margin", () => {
  const [counts, left] = [NOW - HOUR - MARGIN + 1, NOW - HOUR - MARGIN];

  test("among those of the machine", () => {
    expect(pacer({ limit: 10, attempts: () => [left, counts] }).pacer.estimateOutlook()?.left).toBe(9);
  });

  test("among those of the batch without a history, also after another was sent", () => {
    const { pacer: paced } = pacer({ limit: 10, own: [left, counts] });
    expect(paced.estimateOutlook()?.left).toBe(9);
    paced.noteSent();
    expect(paced.estimateOutlook()?.left).toBe(8);
  });
});

test("without a limit the creates of the machine are not counted", () => {
  const attempts = () => {
    throw new Error("counted");
  };
  expect(pacer({ limit: Number.POSITIVE_INFINITY, attempts }).pacer.estimateOutlook()).toBeUndefined();
});

import { expect, test } from "vitest";
import { renderKeySpending, renderKeyUse } from "../../../../src/server/ui/views/keys.js";

const NOTHING = {
  ...{ completed: 0, failed: 0, stopped: 0, dollars: 0, withDollars: 0 },
  ...{ inputTokens: 0, outputTokens: 0, unreported: 0 },
};
const textOf = (html: string) => html.replace(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");

test("what each key has spent stands there by name, the dearest first; nothing if nothing is known", () => {
  expect(renderKeySpending([], new Map())).toBe("");
  expect(renderKeySpending([{ ...NOTHING, name: "a", completed: 1, unreported: 1 }], new Map())).toBe("");
  const html = renderKeySpending(
    [
      { ...NOTHING, name: "a", completed: 1, dollars: 1.5, withDollars: 1 },
      {
        ...NOTHING,
        name: "b",
        completed: 12,
        failed: 1,
        stopped: 2,
        dollars: 20.056,
        withDollars: 12,
        unreported: 3,
      },
      { ...NOTHING, name: "c", completed: 1, inputTokens: 1_000, outputTokens: 234 },
    ],
    new Map([
      ["a", "<ci>"],
      ["b", "team (revoked)"],
    ]),
  );
  expect(textOf(html)).toBe(
    "Spent by each key in the last 30d " +
      "$20.06 team (revoked) in 12 conversations whose cost is known · 12 COMPLETED, 1 FAILED, 2 STOPPED · cost of 3 not reported " +
      "$1.50 &lt;ci&gt; in 1 conversation whose cost is known · 1 COMPLETED, 0 FAILED, 0 STOPPED " +
      "$0.00 The one key 1,234 tokens · 1 COMPLETED, 0 FAILED, 0 STOPPED ",
  );
});

test("what a key has used of its hour and of its budgets stands there, and when the next create is allowed", () => {
  const key = { id: "a", name: "alice", tier: "free" as const, limits: { create: 10, stop: 20 } };
  const day = 86_400_000;
  const budgets = { budget: { most: 200, ms: 30 * day }, dollars: { most: 2.5, ms: day }, atOnce: 3 };
  const hour = { create: { used: 10, nextAt: 60_000 }, stop: { used: 1 } };
  const use = { ...hour, created: 12, spent: 1.25, reserved: 0.5, running: 2 };
  const uses = [{ ...use, keyId: "a", nextAt: 3_600_000 }];
  const text = textOf(renderKeyUse([{ ...key, budgets }], { at: 0, uses }));
  expect(text).toContain(
    "create 10 of 10 in the last hour · next free slot: in 1m 00s, 1970-01-01 00:01:00 UTC",
  );
  expect(text).toContain("stop 1 of 20 in the last hour budget");
  expect(text).toContain(
    "budget 12 of 200 creates in 30d · $1.25 of $2.50 in 1d, $0.50 reserved · 2 of 3 at once · next create: in 1h 00m",
  );
  expect(textOf(renderKeyUse([key], { at: 0, uses }))).not.toContain("budget");
});

import { expect, test } from "vitest";
import { keysHtml, spentHtml } from "../../../../src/server/ui/views/keys.js";

const NOTHING = {
  ...{ completed: 0, failed: 0, stopped: 0, dollars: 0, priced: 0 },
  ...{ inputTokens: 0, outputTokens: 0, unsaid: 0 },
};
const textOf = (html: string) => html.replace(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");

test("what each key has spent stands there by name, the dearest first; nothing if nothing is known", () => {
  expect(spentHtml([], new Map())).toBe("");
  expect(spentHtml([{ ...NOTHING, name: "a", completed: 1, unsaid: 1 }], new Map())).toBe("");
  const html = spentHtml(
    [
      { ...NOTHING, name: "a", completed: 1, dollars: 1.5, priced: 1 },
      { ...NOTHING, name: "b", completed: 12, failed: 1, stopped: 2, dollars: 20.056, priced: 12, unsaid: 3 },
      { ...NOTHING, name: "c", completed: 1, inputTokens: 1_000, outputTokens: 234 },
    ],
    new Map([
      ["a", "<ci>"],
      ["b", "team (revoked)"],
    ]),
  );
  expect(textOf(html)).toBe(
    "Spent by each key in the last 30d " +
      "$20.06 team (revoked) in 12 conversations whose cost is known · 12 COMPLETED, 1 FAILED, 2 STOPPED · nothing said of 3 " +
      "$1.50 &lt;ci&gt; in 1 conversation whose cost is known · 1 COMPLETED, 0 FAILED, 0 STOPPED " +
      "$0.00 The one key 1,234 tokens · 1 COMPLETED, 0 FAILED, 0 STOPPED ",
  );
});

test("the budgets of a key stand under its hour", () => {
  const key = { id: "a", name: "alice", tier: "free", limits: { create: 10, stop: 20 } };
  const day = 86_400_000;
  const budgets = { budget: { most: 200, ms: 30 * day }, dollars: { most: 2.5, ms: day }, atOnce: 3 };
  const html = keysHtml([{ ...key, budgets }], { at: 0, counts: [] });
  expect(textOf(html)).toContain("budget 200 creates in 30d · $2.5 in 1d · 3 at once");
  expect(textOf(keysHtml([key], { at: 0, counts: [] }))).not.toContain("budget");
});

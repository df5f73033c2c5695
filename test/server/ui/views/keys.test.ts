import { expect, test } from "vitest";
import { costsHtml } from "../../../../src/server/ui/views/keys.js";

test("what each key has cost stands there by name, the dearest first; nothing if nothing is known", () => {
  expect(costsHtml([], new Map())).toBe("");
  const html = costsHtml(
    [
      { keyId: "a", dollars: 1.5, conversations: 1 },
      { keyId: "b", dollars: 20.056, conversations: 12 },
    ],
    new Map([
      ["a", "<ci>"],
      ["b", "team (revoked)"],
    ]),
  );
  const text = html.replace(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  expect(text).toBe(
    "Cost of each key in the last 30 days $20.06 team (revoked) in 12 conversations whose cost is known $1.50 &lt;ci&gt; in 1 conversation whose cost is known ",
  );
  expect(costsHtml([{ keyId: "x", dollars: 1, conversations: 1 }], new Map())).toContain("The one key");
});

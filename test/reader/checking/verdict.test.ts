import { describe, expect, test } from "vitest";
import type { Verdict } from "../../../src/core/protocol/check-outcome.js";
import { PageContent } from "../../../src/reader/checking/page-content.js";
import { type CitedPage, judge } from "../../../src/reader/checking/verdict.js";

/** A page of these passages; one with ` | ` in it has what stands over it before that. */
function page(...texts: string[]): CitedPage {
  const passages = texts.map((each) => {
    const [over, text] = each.includes(" | ") ? each.split(" | ") : ["", each];
    return { text: text ?? "", over: over ?? "" };
  });
  return { entry: { state: "read", reason: null }, content: new PageContent(passages) };
}
const verdictOf = async (claim: string, ...pages: CitedPage[]) => (await judge(claim, pages, "en")).verdict;

const GONE: CitedPage = { entry: { state: "gone", reason: "404" } };
const UNREADABLE: CitedPage = { entry: { state: "unreadable", reason: "403" } };

describe("a number", () => {
  test.each<[string, string, string, Verdict]>([
    ["with another unit", "The timeout is 2 s.", "The default timeout is 2 minutes.", "missing"],
    ["without its unit", "The timeout is 2000 ms.", "timeout in milliseconds | 2000", "found"],
    ["under a unit", "The timeout is 2 s.", "timeout (ms) | 2000", "found"],
    ["in another currency", "It costs $500 a month.", "It costs €500 a month.", "missing"],
    ["one digit changed", "The pool takes 1,700 connections.", "The pool takes 1600 connections.", "missing"],
    [
      "rounded too far",
      "About 3 million people live in the city.",
      "The city has 2,600,000 people.",
      "missing",
    ],
    [
      "rounded to other digits",
      "The city has 3.4 million people.",
      "The city has 3,482,000 people.",
      "missing",
    ],
    ["rounded in silence", "The city has 3 million people.", "The city has 2,950,000 people.", "found"],
    [
      "rounded by more than 3 %",
      "The city has 3 million people.",
      "The city has 2,850,000 people.",
      "missing",
    ],
    [
      "more than, and it is less",
      "More than 3 million people live in the city.",
      "The city has 2,900,000 people.",
      "missing",
    ],
    ["only elsewhere", "The pool takes 1600 connections.", "In 1600 a queen was born.", "unchecked"],
    ["a small number word", "Three of the pools are full.", "Pools fill up in summer.", "unchecked"],
    [
      "of things, not the place of one",
      "The pool has 2 lanes.",
      "The second lane of the pool is shut.",
      "missing",
    ],
    ["in full, not a time", "The pool has 2020 lanes.", "The pool takes 20s for its lanes.", "missing"],
    ["a digit behind a letter", "It uses SHA-256 digests.", "All digests use SHA256.", "found"],
    [
      "a figure's number",
      "As Figure 12 shows, the tides rise and fall.",
      "The tides rise and fall.",
      "unchecked",
    ],
    ["a long number behind #", "It is told in issue #25741.", "It is told in issue #25742.", "missing"],
    ["a point of Unicode", "It ends at U+0002 in this table.", "It ends at U+0001 with 2 tables.", "missing"],
    [
      "not rounded, whatever is said",
      "Some 43 % of the town is low.",
      "About 41 % of the town is low.",
      "missing",
    ],
    [
      "multiplied by the head of its column",
      "It cost 4.2 million crowns.",
      "Cost (million crowns) | 4,2",
      "found",
    ],
  ])("%s", async (_name, claim, text, verdict) => {
    expect(await verdictOf(claim, page(text))).toBe(verdict);
  });

  test("that is missing is named as the sentence has it", async () => {
    const judged = await judge(
      "The pool takes 1,700 connections in 2 s.",
      [page("The pool takes 1600 in 2 s.")],
      "en",
    );
    expect(judged).toMatchObject({ verdict: "missing", missing: ["1,700"] });
  });
});

describe("a date", () => {
  const FORMS = [
    "July 21, 2010",
    "21.07.2010",
    "2010-07-21",
    "7/21/2010",
    "21 July 2010",
    "21st of July, 2010",
  ];
  test.each(FORMS.flatMap((said) => FORMS.map((written) => [said, written] as const)))(
    "%s stands in %s",
    async (said, written) => {
      expect(await verdictOf(`The store opened on ${said}.`, page(`The store opened on ${written}.`))).toBe(
        "found",
      );
    },
  );
  test.each(["July 22, 2010", "21. Juni 2010", "21.07.2011"])("%s does not", async (said) => {
    expect(await verdictOf(`The store opened on ${said}.`, page("The store opened on July 21, 2010."))).toBe(
      "missing",
    );
  });
});

describe("a quotation", () => {
  test.each<[string, string, string, Verdict]>([
    [
      "cut at a line's end",
      "She calls it “a beautiful long night”.",
      "It was a beauti-\nful long night.",
      "found",
    ],
    ["of other words", "She calls it “a very short night”.", "It was a very long night.", "missing"],
    [
      "of two words",
      "She calls it a “short night” in the city.",
      "It was a very long night in the city.",
      "unchecked",
    ],
    [
      "of nothing but what was put in",
      'It prints "[%u/%r/%f] " in a line.',
      "It prints a line.",
      "unchecked",
    ],
    [
      "in another language",
      "She calls it “a very short night”.",
      "Es war eine sehr lange Nacht, und sie hat nicht geschlafen.",
      "unchecked",
    ],
  ])("%s", async (_name, claim, text, verdict) => {
    expect(await verdictOf(claim, page(text))).toBe(verdict);
  });
});

describe("of several addresses", () => {
  const claim = "The pool takes 1600 connections.";
  const right = page("The pool takes 1600 connections.");
  const wrong = page("The pool takes 900 connections.");
  test.each<[string, CitedPage[], Verdict]>([
    ["one that says it beats all", [GONE, UNREADABLE, wrong, right], "found"],
    ["one that could not be read beats one that is gone", [GONE, UNREADABLE, wrong], "unreadable"],
    ["one that is gone beats one that does not say it", [GONE, wrong], "gone"],
    ["else it is missing", [wrong, wrong], "missing"],
  ])("%s", async (_name, pages, verdict) => {
    expect(await verdictOf(claim, ...pages)).toBe(verdict);
  });
});

describe("with nothing to look for", () => {
  const about = page("Tides are caused by the gravity of the moon and the sun.");
  test.each<[string, string, Verdict]>([
    [
      "a page about something else",
      "The committee rejected the proposal after a heated debate.",
      "unchecked",
    ],
    ["one with its words", "The gravity of the moon causes the tides.", "unchecked"],
    ["a short sentence", "Nobody knows why.", "unchecked"],
    [
      "a page in another language",
      "Der Ausschuss hat den Vorschlag nach der Debatte nicht angenommen.",
      "unchecked",
    ],
  ])("%s", async (_name, claim, verdict) => {
    expect(await verdictOf(claim, about)).toBe(verdict);
  });
});

test("what is not on the beginning of a page that was cut is unchecked", async () => {
  const content = new PageContent(
    [{ text: "The pool takes 900 connections.", over: "" }],
    "only its beginning was read",
  );
  expect(await verdictOf("The pool takes 1600 connections.", { ...page(), content })).toBe("unchecked");
});

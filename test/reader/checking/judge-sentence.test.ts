import { describe, expect, test } from "vitest";
import type { Verdict } from "../../../src/core/protocol/check-outcome.js";
import { PageContent } from "../../../src/reader/checking/indexed-page.js";
import { type CitedPage, judgeSentence } from "../../../src/reader/checking/judge-sentence.js";

/** A page of these passages; one with ` | ` in it has what stands over it before that. */
function page(...texts: string[]): CitedPage {
  const passages = texts.map((each) => {
    const [over, text] = each.includes(" | ") ? each.split(" | ") : ["", each];
    return { text: text ?? "", over: over ?? "" };
  });
  return { entry: { state: "read", reason: null }, content: new PageContent(passages) };
}
const verdictOf = async (claim: string, ...pages: CitedPage[]) =>
  (await judgeSentence(claim, pages, "en")).verdict;

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
    const judged = await judgeSentence(
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
    [
      "a number elsewhere on one of them is held against nobody, whatever else is gone",
      [GONE, page("In 1600 a queen was born.")],
      "unchecked",
    ],
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

describe("an unchecked sentence names the reason", () => {
  const houses = Array.from({ length: 8 }, (_, i) => `The ${i + 20} houses of the town stand by the river.`);
  const onPage = (kind: string, where: string) => `the ${kind} is on the page, but ${where}`;
  const elsewhere = "in a passage about something else";
  const nothing = "the sentence has no number, date or quotation to look for";
  test.each<[claim: string, texts: string[], reason: string, whole?: string, language?: string]>([
    [
      "Orvik sold 412 pumps.",
      ["Orvik is a maker.", "It makes pumps.", "Brenta sold 412 pumps.", ...houses],
      onPage("number", "far from the names in the sentence"),
    ],
    ["The pool takes 1600 connections.", ["In 1600 a queen was born."], onPage("number", elsewhere)],
    ["The pool opens at 14:05.", ["A train leaves at 14:05."], onPage("number", elsewhere)],
    ["The pool opened on 4 July 2024.", ["The mayor was born on 4 July 2024."], onPage("date", elsewhere)],
    [
      "The pool takes 1600 connections.",
      ["The pool is wet."],
      onPage("number", "outside its main text"),
      "The pool is wet.\nconnections: 1600",
    ],
    [
      "She calls it “a very short night”.",
      ["Es war eine sehr lange Nacht, und sie hat nicht geschlafen."],
      "the page is in another language than the quotation",
    ],
    [
      "The pool opened on 4 July 2024.",
      ["Uimahalli avattiin 4. heinäkuuta 2024."],
      "the page is in a language whose dates cannot be read",
      "",
      "fi",
    ],
    [
      "The pool opened on 16 September 2024.",
      ["17 September 2024", "The pool opened on Monday."],
      "the page may name the day by its weekday",
    ],
    [
      "The club began in the 1980s with 40 members.",
      ["The club began in 1984 with 40 members."],
      "a page may state a difference, a decade or a time ago in other words",
    ],
    [
      "The club has more than 1,000 members.",
      ["The club has 1,450 members."],
      "the sentence gives a bound, and the page has a number within it",
    ],
    ["The gravity of the moon causes the tides.", ["Tides are due to the gravity of the moon."], nothing],
    [
      "The committee rejected the proposal.",
      ["Tides are due to the gravity of the moon."],
      `${nothing}, and the page has few of its words`,
    ],
  ])("%s", async (claim, texts, reason, whole = "", language = undefined) => {
    const content = new PageContent(
      texts.map((text) => ({ text, over: "" })),
      undefined,
      whole,
      language,
    );
    expect(await judgeSentence(claim, [{ ...page(), content }], "en")).toMatchObject({
      ...{ verdict: "unchecked", missing: [], reason },
    });
  });
});

test("what is not on the beginning of a page that was cut is unchecked", async () => {
  const content = new PageContent(
    [{ text: "The pool takes 900 connections.", over: "" }],
    "only its beginning was read",
  );
  expect(await verdictOf("The pool takes 1600 connections.", { ...page(), content })).toBe("unchecked");
});

describe("near a name", () => {
  const filler = Array.from({ length: 8 }, (_, i) => `The ${i + 20} houses of the town stand by the river.`);
  const held = (claim: string, ...texts: string[]) => verdictOf(claim, page(...texts, ...filler));
  test.each<[string, string, string[], Verdict]>([
    ["in its passage", "Orvik sold 412 pumps.", ["In May Orvik sold 412 pumps."], "found"],
    ["in the one beside it", "Orvik sold 412 pumps.", ["Orvik is a maker.", "It sold 412 pumps."], "found"],
    [
      "elsewhere",
      "Orvik sold 412 pumps.",
      ["Orvik is a maker.", "It makes pumps.", "Brenta sold 412 pumps."],
      "unchecked",
    ],
    [
      "whose month is no name",
      "In March 412 pumps were sold.",
      ["It was March.", "", "412 pumps were sold."],
      "found",
    ],
    [
      "that somebody said is no name of the sentence",
      "“All of Orvik is for sale here”, it said of 412 pumps.",
      ["All of Orvik is for sale here.", "", "", "There were 412 pumps."],
      "found",
    ],
  ])("%s", async (_name, claim, texts, verdict) => {
    expect(await held(claim, ...texts)).toBe(verdict);
  });

  const inSections = (claim: string, ...sections: [over: string, text: string][]) => {
    const named = sections.map(([over, text]) => ({ text, over, subject: over }));
    const content = new PageContent([...named, ...filler.map((text) => ({ text, over: "", subject: "" }))]);
    return verdictOf(claim, { ...page(), content });
  };
  test.each<[string, string, Verdict]>([
    ["under its own heading", "Orvik sold 412 pumps.", "found"],
    ["under the next heading", "Brenta sold 412 pumps.", "unchecked"],
    ["of which another name has a part", "Brenta West sold 555 pumps.", "unchecked"],
    ["with all its words", "Brenta East sold 555 pumps.", "found"],
    ["of a field", "The default of idle_timeout is 600 s.", "found"],
    ["of another field", "The default of open_timeout is 600 s.", "unchecked"],
    ["in the text of the section before", "Calder is a maker of 777 pumps.", "found"],
  ])("%s: %s", async (_name, claim, verdict) => {
    const judged = await inSections(
      claim,
      ["Orvik", "It sold 412 pumps."],
      ["Brenta", "It is a maker of pumps."],
      ["Brenta West", "It is the smaller one."],
      ["Brenta East", "It sold 555 pumps."],
      ["open_timeout", "The default is 30 s."],
      ["idle_timeout", "The default is 600 s."],
      ["History", "Calder is a maker of pumps."],
      ["Sales", "It sold 777 pumps."],
    );
    expect(judged).toBe(verdict);
  });

  test("that has a row of its own, a figure of the next row is not its own", async () => {
    const rows = ["Orvik | 300", "Brenta | 412", "Calder | 555"];
    const passages = [
      ...rows.map((text) => ({ text, over: "Maker\nPumps", isRow: true })),
      ...filler.map((text) => ({ text, over: "" })),
    ];
    const content = new PageContent(passages);
    expect(await verdictOf("Orvik has 412 pumps.", { ...page(), content })).toBe("unchecked");
    expect(await verdictOf("Brenta has 412 pumps.", { ...page(), content })).toBe("found");
  });

  test("of German only words in capitals are names", async () => {
    const german = [
      "Der Umsatz der AOK stieg und der Verband ist da.",
      "Es ist nicht neu.",
      "Er stieg auf 412 Stück.",
      ...filler,
    ];
    const cited = page(...german);
    expect((await judgeSentence("Der Umsatz stieg auf 412 Stück.", [cited], "de")).verdict).toBe("found");
    expect((await judgeSentence("Bei der AOK stieg er auf 412 Stück.", [cited], "de")).verdict).toBe(
      "unchecked",
    );
  });
});

describe("what a page need not state in these words", () => {
  test.each([
    ["It has more than 1,000 members.", "It has 1,450 members."],
    ["It began in the 1990s with members.", "It began in 1994 with members."],
    ["It began thirty years ago with its members.", "It began in 1994 with its members."],
    ["Its share rose by 3.4 percentage points.", "Its share rose from 41 % to 44.4 %."],
  ])("%s", async (claim, text) => {
    expect(await verdictOf(claim, page(text))).toBe("unchecked");
  });
});

test("a short page that says nothing of a sentence is not held against it", async () => {
  const club = page("Training on Mondays. New members are welcome.");
  expect(await judgeSentence("The market for lithium reached $9.4 billion.", [club], "en")).toMatchObject({
    ...{ verdict: "unchecked", reason: "the page is short and about something else than the sentence" },
  });
  const market = page("The market for lithium is growing. Write to us.");
  expect(await verdictOf("The market for lithium reached $9.4 billion.", market)).toBe("missing");
});

describe("the passage", () => {
  test("is the one with most of what the sentence says", async () => {
    const texts = [
      "In 2023 all was well.",
      "In 2023 Orvik sold 412 pumps in the north.",
      "Orvik sold pumps.",
    ];
    const judged = await judgeSentence(
      "Orvik sold 412 pumps in 2023.",
      [page("412 things."), page(...texts)],
      "en",
    );
    expect(judged).toMatchObject({ passage: texts[1], page: 1 });
  });

  test("is rather the one with its figure than the one with more of its words", async () => {
    const texts = ["Pumps were sold in the cold north.", "Orvik: 412"];
    const { passage } = await judgeSentence(
      "Orvik sold 412 pumps in the cold north.",
      [page(...texts)],
      "en",
    );
    expect(passage).toBe(texts[1]);
  });

  test("is cut around what was found, and there is none if no passage says anything of it", async () => {
    const long = `${"word ".repeat(300)}Orvik sold 412 pumps. ${"word ".repeat(300)}`;
    const { passage } = await judgeSentence("Orvik sold 412 pumps.", [page(long)], "en");
    expect(passage).toMatch(/^….*412 pumps.*…$/);
    expect((await judgeSentence("Orvik sold 412 pumps.", [page("Nothing.")], "en")).passage).toBeNull();
  });
});

test("a figure that stands in more places than are compared is looked for from what is rarer", async () => {
  const rows = Array.from({ length: 500 }, (_, i) => `Row ${i} of 2024.`);
  const cited = page(...rows, "In 2024 Orvik grew.");
  expect(await verdictOf("Orvik grew in 2024.", cited)).toBe("found");
  expect(
    await judgeSentence("Nobody went there in 2024.", [page(...rows.map((row) => `${row} Nobody.`))], "en"),
  ).toMatchObject({
    verdict: "found",
  });
  const many = page(...rows, ...rows.map(() => "Nobody went anywhere."));
  expect(await judgeSentence("Nobody went there in 2024.", [many], "en")).toMatchObject({
    ...{ verdict: "unchecked", reason: "the number is in too many places on the page" },
  });
});

test.each([
  ["Das Training dauert 84 Tage.", "Das Training dauert zwölf Wochen."],
  ["Die Messe hatte 2,5 Millionen Besucher.", "Zweieinhalb Millionen Menschen besuchten die Messe."],
  ["In Freiburg wurden am 12. Juli 36,4 °C gemessen.", "In Freiburg stieg sie am 12. Juli auf 36,4 °C."],
])("a sentence too short to tell its language has the words of its page: %s", async (claim, text) => {
  const content = new PageContent([{ text, over: "" }], undefined, "", "de");
  const cited: CitedPage = { entry: { state: "read", reason: null }, content };
  for (const language of ["de", "es", undefined])
    expect(await judgeSentence(claim, [cited], language)).toMatchObject({ verdict: "found" });
});

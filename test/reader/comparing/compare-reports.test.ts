import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PostingsList } from "../../../src/core/inverted-index.js";
import { compareReports, prepareForComparison } from "../../../src/reader/comparing/compare-reports.js";
import { detectLanguage } from "../../../src/reader/languages/vocabulary.js";

const SET = new URL("set/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, SET), "utf8");
const reportOf = (text: string) => ({ text, given: { citations: [], sources: [] } });
const fieldsOf = (value: unknown) => ({ value, given: { citations: [], sources: [] } });

type Report = ReturnType<typeof reportOf> | ReturnType<typeof fieldsOf>;
function changesIn(old: Report, now: Report): string[] {
  const [before, after] = compareReports(prepareForComparison(old), prepareForComparison(now));
  return [
    ...after.flatMap(({ text, kind, other }) =>
      kind === "changed" ? `changed: ${text} <- ${other}` : kind === "absent" ? `added: ${text}` : [],
    ),
    ...before.flatMap(({ text, kind }) => (kind === "absent" ? `removed: ${text}` : [])),
  ];
}

/** Pairs of reports, whose labels name what differs and what only looks so: a kind, words of the new sentence, of the old one. */
const NAMES = readdirSync(SET).flatMap((name) => /^(.+)\.labels\.txt$/.exec(name)?.[1] ?? []);
const labels = (name: string) =>
  read(`${name}.labels.txt`)
    .trim()
    .split("\n")
    .map((line) => line.split(" || "));
/** What is reported with another kind than its label has: said as one that went and another one that came. */
const OF_ANOTHER_KIND = 13;
/** How many sentences of a pair of reports on different subjects are said to state another figure, on average. */
const UNRELATED = 0.25;

test.each(NAMES)("%s: each labelled difference is found, and nothing else of the labels", (name) => {
  const changes = changesIn(reportOf(read(`${name}.old.md`)), reportOf(read(`${name}.new.md`)));
  const near = ([, now = "", before = now]: string[]) =>
    changes.filter((change) => change.includes(now) || change.includes(before));
  const all = labels(name);
  expect(all.filter(([kind]) => kind === "same").flatMap(near)).toEqual([]);
  expect(all.filter((one) => one[0] !== "same" && near(one).length === 0)).toEqual([]);
});

test("most differences are of the kind that their labels name", () => {
  const others = NAMES.flatMap((name) => {
    const changes = changesIn(reportOf(read(`${name}.old.md`)), reportOf(read(`${name}.new.md`)));
    return labels(name).filter(
      ([kind, now = "", before = now]) =>
        kind !== "same" &&
        !changes.some((one) => one.startsWith(`${kind}:`) && (one.includes(now) || one.includes(before))),
    );
  });
  expect(others.length).toBeLessThanOrEqual(OF_ANOTHER_KIND);
});

test("reports on different subjects are not said to differ in their figures, though they share years and small numbers", () => {
  const english = NAMES.filter((name) =>
    ["old", "new"].every((age) => detectLanguage(read(`${name}.${age}.md`)) === "en"),
  );
  const pairs = english.flatMap((name) =>
    english.flatMap((other) => (other === name ? [] : [[name, other]])),
  );
  const changed = pairs.flatMap(([old, now]) =>
    changesIn(reportOf(read(`${old}.old.md`)), reportOf(read(`${now}.new.md`))).filter((change) =>
      change.startsWith("changed"),
    ),
  );
  expect(pairs.length).toBeGreaterThan(100);
  expect(changed.length / pairs.length).toBeLessThan(UNRELATED);
});

test.each(NAMES.map((name) => `${name}.new.md`))(
  "%s: itself, in other lines and with other marks, is no change",
  (name) => {
    const text = read(name);
    const reflowed = text.replace(/(?<=[a-zäöü,]) (?=[a-zäöü]{4})/g, "\n").replace(/^- /gm, "* ");
    const atMarks = text.replace(/^[^|[\n].*$/gm, (line) => line.replace(/ (?=\[\d+\])/g, "\n"));
    for (const same of [text, `<think>It was 99 before.</think>\n${reflowed}`, atMarks])
      expect(changesIn(reportOf(text), reportOf(same))).toEqual([]);
  },
);

test("a list that is numbered otherwise, and sources in another order, are no change", () => {
  const report = (order: readonly number[], first: number) => {
    const facts = ["Berlin has 3.7 million people", "Hamburg has 1.9 million", "Munich has 1.5 million"];
    const items = order.map((n, i) => `${first + i}. ${facts[n]} [${i + 1}].`);
    const sources = order.map((n, i) => `${i + 1}. https://${n}.example/people`);
    return reportOf(`# Cities\n\n${items.join("\n")}\n\n## Sources\n\n${sources.join("\n")}\n`);
  };
  expect(changesIn(report([0, 1, 2], 1), report([2, 0, 1], 4))).toEqual([]);
});

test.each<[string, string, string[]]>([
  [
    "Poland installed 60,000 in 2024.",
    "The Netherlands installed 96,000 in 2024.",
    ["added: Poland installed 60,000 in 2024.", "removed: The Netherlands installed 96,000 in 2024."],
  ],
  [
    "Poland installed 60,000 in 2024.",
    "In 2024 Poland installed 96,000.",
    ["changed: Poland installed 60,000 in 2024. <- In 2024 Poland installed 96,000."],
  ],
])("%s / %s: another figure is said of one thing only", (now, old, changes) => {
  const around = "The share of pumps rose by 12 % there. It was 8 % before.\n\n";
  expect(changesIn(reportOf(around + old), reportOf(around + now))).toEqual(changes);
});

/** How many places two reports look at in each other, of `length` sentences that all share words and figures. */
function countLookups(length: number): number {
  const { find, has } = PostingsList.prototype;
  let count = 0;
  const text = (from: number) =>
    Array.from({ length }, (_, i) => `In 2024 the ${i % 7}th of 31 plants made ${from + i} tonnes.`).join(
      "\n\n",
    );
  try {
    PostingsList.prototype.has = function (place) {
      count += 1;
      return has.call(this, place);
    };
    PostingsList.prototype.find = function (most, isWanted) {
      return find.call(this, most, (place) => {
        count += 1;
        return isWanted(place);
      });
    };
    compareReports(prepareForComparison(reportOf(text(1_000))), prepareForComparison(reportOf(text(1_007))));
  } finally {
    Object.assign(PostingsList.prototype, { find, has });
  }
  return count;
}

test("four times the sentences take four times the comparisons, even if each sentence is like every other", () => {
  const [short, long] = [countLookups(200), countLookups(800)];
  expect(short).toBeGreaterThan(10_000);
  expect(long).toBeLessThan(4.4 * short);
});

test.each([
  ["14 % of them left.", "14.3 % of them left.", true],
  ["It holds 100 people.", "It holds 102 people.", false],
  ["It holds about 280 people.", "It holds 284 people.", true],
  ["In 2024, nearly 7 % left.", "In 2024, 6.7 % left.", true],
  ["COVID-19 closed 12,000 shops.", "Covid closed 12,000 shops.", true],
  ["More than 1,000 shops closed in May.", "In May 1,450 shops closed.", true],
  ["More than 1,000 shops closed in May.", "In May 950 shops closed.", false],
  ["It has 46,000 members.", "It has 46,321 members.", false],
  ["It opened on 3 May 2024.", "It opened in May 2024.", true],
  ["It opened on 3 May 2024.", "It opened on 13 May 2024.", false],
  ["The bridge is 2 km long.", "The bridge has a length of 2,000 m.", true],
  ['He said "we will never sell the company".', 'He said "we may well sell the company soon".', false],
])("%s and %s: the same? %s", (one, other, isSame) => {
  for (const [old, now] of [
    [one, other],
    [other, one],
  ] as const)
    expect(changesIn(reportOf(old), reportOf(now)).length === 0).toBe(isSame);
});

test("a text of one sentence is no field: other words without a figure are no change", () => {
  expect(changesIn(reportOf("It is full."), reportOf("It is empty now."))).toEqual([]);
  expect(changesIn(fieldsOf({ state: "full" }), fieldsOf({ state: "empty" }))).toEqual([
    "changed: state: empty <- state: full",
  ]);
});

test("a null is no value, and a result that is a bare value has the name value", () => {
  expect(changesIn(fieldsOf({ profit: null }), fieldsOf({ profit: 12 }))).toEqual(["added: profit: 12"]);
  expect(changesIn(fieldsOf({ profit: null }), fieldsOf({ profit: null }))).toEqual([]);
  expect(changesIn(fieldsOf(12), fieldsOf(15))).toEqual(["changed: value: 15 <- value: 12"]);
  expect(changesIn(fieldsOf("full"), fieldsOf("empty"))).toEqual(["changed: value: empty <- value: full"]);
});

test.each<[string, object[], object, string[]]>([
  [
    "the first text is the same in several",
    [
      { country: "DE", city: "Berlin", people: 3_700_000 },
      { country: "DE", city: "Hamburg", people: 1_900_000 },
      { country: "AT", city: "Wien", people: 2_000_000 },
    ],
    { people: 2_100_000 },
    ["changed: [Wien].people: 2100000 <- [Wien].people: 2000000"],
  ],
  [
    "only numbers",
    [
      { year: 2023, cost: 10 },
      { year: 2024, cost: 10 },
      { year: 2025, cost: 12 },
    ],
    { cost: 14 },
    ["changed: [2025].cost: 14 <- [2025].cost: 12"],
  ],
  [
    "texts that are figures",
    [
      { year: 2023, revenue: "4.1 million" },
      { year: 2024, revenue: "4.2 million" },
    ],
    { revenue: "5.2 million" },
    ["changed: [2024].revenue: 5.2 million <- [2024].revenue: 4.2 million"],
  ],
])("items are found again in another order: %s", (_what, items, other, changes) => {
  expect(changesIn(fieldsOf(items), fieldsOf(items.toReversed()))).toEqual([]);
  const [last, ...rest] = items.toReversed();
  expect(changesIn(fieldsOf(items), fieldsOf([{ ...last, ...other }, ...rest]))).toEqual(changes);
});

test("structured results are compared by their fields; the order of members and items is no change", () => {
  const old = {
    title: "Chip makers",
    companies: [
      {
        name: "Acme",
        employees: 1200,
        rating: 4,
        status: "private",
        note: "It sells pumps in ten countries.",
      },
      { name: "Bolt", employees: 300, rating: 5, status: "private", founded: "3 May 1999" },
    ],
    tags: ["steel", "pumps"],
    ok: true,
  };
  const [acme, bolt] = old.companies;
  expect(changesIn(fieldsOf(old), fieldsOf(structuredClone(old)))).toEqual([]);
  const moved = { ok: true, tags: ["pumps", "steel"], companies: [bolt, acme], title: old.title };
  expect(changesIn(fieldsOf(old), fieldsOf(moved))).toEqual([]);
  const now = {
    ...old,
    ok: false,
    companies: [
      { ...bolt, founded: "13 May 1999" },
      { ...acme, rating: 5, status: "public", note: "In ten countries pumps are sold by it.", profit: 12 },
    ],
  };
  expect(changesIn(fieldsOf(old), fieldsOf(now)).sort()).toEqual([
    "added: companies.[Acme].profit: 12",
    "changed: companies.[Acme].rating: 5 <- companies.[Acme].rating: 4",
    "changed: companies.[Acme].status: public <- companies.[Acme].status: private",
    "changed: companies.[Bolt].founded: 13 May 1999 <- companies.[Bolt].founded: 3 May 1999",
    "changed: ok: false <- ok: true",
  ]);
});

import { expect, test } from "vitest";
import { getVocabulary } from "../../../src/reader/languages/vocabulary.js";
import { type Figure, findColumnFactors, findFigures } from "../../../src/reader/matching/numbers.js";
import { isLinear } from "../../support/growth.js";

/** A figure as its values with its unit; a date is "date". */
function shown(figure: Figure): string {
  if (figure.kind === "date") return "date";
  if (figure.kind === "code") return figure.values.join("|");
  const values = new Set(figure.readings.map(({ value }) => Number(value.toPrecision(10))));
  return [[...values].join("|"), figure.unit?.id].filter((part) => part !== undefined).join(" ");
}
const figuresIn = (text: string, language: string) => findFigures(text, getVocabulary(language)).map(shown);

test.each<[language: string, text: string, ...figures: string[]]>([
  ["en", "It has 1,600 lamps", "1600|1.6"],
  ["en", "It has 1 600 lamps, 2,500.75 km long", "1600", "2500.75 km"],
  ["en", "12,34,567 people", "1234567"],
  ["en", "It grew by 14.3 % to $1.2bn", "14.3 percent", "1200000000 dollar"],
  ["en", "5.3m people, 3.2k stars", "5.3|5300000 m", "3.2|3200"],
  ["en", "between −3 °C and 5 °C", "-3 C", "5 C"],
  ["en", "two hundred and fifty people, sixty-four teams", "250", "64"],
  ["en", "two thirds of the twenty-third, half a million", "0.6666666667", "23 order", "500000"],
  ["en", "2½ hours and 1 h 30 min", "2.5 h", "1.5 h"],
  ["en", "3h 30m, and 2h of 500 m", "3.5 h", "2 h", "500|500000000 m"],
  ["en", "a quarter of a million, a third of the crew", "250000", "0.3333333333"],
  ["en", "1.2–1.3 billion euros", "1.2|1200000000 euro", "1300000000 euro"],
  ["en", "at 2:30 pm, 14:00 and 03:14:08", "2:30|14:30", "14:00", "3:14:08"],
  ["en", "00:14:08,221 --> 2024-05-06T14:05:33Z", "0:14:08", "date", "14:05:33"],
  ["en", "version 2.14.0 at 10.0.0.1", "2.14.0", "10.0.0.1"],
  ["en", "It rose from 57.9 % in 2020 to 62.4 %.", "57.9 percent", "2020", "62.4 percent"],
  ["fr", "16,3 % en 2005. Près d'un quart", "16.3 percent", "2005", "0.25"],
  ["nl", "om 13.02 uur, na 13 uur", "13:02", "13:00"],
  ["de", "am 3. Tag im Jahr 2005. Danach", "3 order", "2005"],
  // The digest of prisons for 2021/22 (data.justice.gov.uk).
  ["en", "in 2021/22", "2021", "22|2022"],
  // PTI on PM-KISAN (business-standard.com).
  [
    "en",
    "Rs 1.57 lakh crore to 14 crore farmers and 83.77 lakh others",
    "1570000000000 rupee",
    "140000000",
    "8377000",
  ],
  // A survey of summer time (splendid-research.com).
  ["de", "Fast zwei Drittel finden sie nicht gut", "0.6666666667"],
  ["en", "3.2 × 10^5 cells, 6e3", "3.2", "10", "5", "6000"],
  ["en", "IPv6 and SHA256 say nothing, GPT-4 does", "4"],
  // The number of a book, which amazon.com writes with other hyphens.
  ["en", "U+0001 and ISBN 978-3-16-148410-0", "0001"],
  // A setting in cassandra.yaml (cassandra.apache.org).
  ["en", "read_request_timeout_in_ms: 5000", "5000 ms"],
  ["en", "４２％ of them", "42 percent"],
  // Digits as tehrannameh.com, misrelaan.com, mr.wikipedia.org and banglamcq.in have them in figures of a census.
  ["fa", "۸٬۷۳۷٬۵۱۰ نفر، ۱٫۷", "8737510", "1.7"],
  ["ar", "١٠٥.٨ في ٢٠٢٣", "105.8", "2023"],
  ["mr", "११२,३७४,३३३ आणि १६.५", "112374333", "16.5"],
  ["bn", "১৭.৬৪ শতাংশ", "17.64"],
  ["de", "1.600 Lampen für 3,4 Mrd. € um 14.30 Uhr", "1.6|1600", "3400000000 euro", "14:30"],
  ["de", "zweiundzwanzigtausend, anderthalb Stunden, 1 Std. 28 Min.", "22000", "1.5 h", "1.466666667 h"],
  ["fr", "à 14h30, 412 650 entrées, 1,5 million", "14:30", "412650", "1500000"],
  ["fr", "3 milliards d'euros, 5 millions de dollars", "3000000000 euro", "5000000 dollar"],
  ["fr", "58,3 M€, 3 Md€", "58300000 euro", "3000000000 euro"],
  // "au deuxième trimestre" of insee.fr.
  ["fr", "au deuxième trimestre 2024", "2 order", "2024"],
  ["fr", "quatre-vingt-dix, un quart", "90", "0.25"],
  ["es", "3 mil millones de euros, treinta y dos", "3000000000 euro", "32"],
  ["it", "4 milioni 812 mila, 2 miliardi e 340 milioni di euro", "4812000", "2340000000 euro"],
  ["it", "38mila euro, 2,07 miliardi", "38000 euro", "2070000000"],
  ["pt", "R$ 3,2 bilhões", "3200000000 real"],
  ["nl", "18,4 miljoen euro", "18400000 euro"],
  ["ja", "1億2500万人、3万3600円", "125000000", "33600 yen"],
  ["zh", "1288.8万辆", "12888000"],
  ["ko", "5100만 명", "51000000"],
])("%s: %s", (language, text, ...figures) => {
  expect(figuresIn(text, language)).toEqual(figures);
});

test.each([
  ["about 30 people", "about"],
  ["some 30 or so people", "about"],
  ["~30 people", "about"],
  ["more than $30", "over"],
  ["30 or more people", "over"],
  ["up to 30 people", "under"],
  ["30 people", "plain"],
  ["30 years ago", "loose"],
  ["the 1990s", "loose"],
  ["by 3 percentage points", "loose"],
  ["in the 19th century", "loose"],
])("%s: %s", (text, bound) => {
  expect(findFigures(text, getVocabulary("en"))[0]).toMatchObject({ kind: "number", bound });
});

test.each<[language: string, head: string, ...factors: number[]]>([
  ["en", "Costs (million crowns)", 1e6],
  ["en", "(in thousands of dollars)", 1e3],
  ["en", "$'000", 1e3],
  ["en", "Budget (€m)", 1e6],
  // Statements of income at reports.normagroup.com, berichte.entega.ag and berichte.gewobag.de.
  ["de", "in TEUR", 1e3],
  ["de", "in TSD. EUR", 1e3],
  ["de", "in T €", 1e3],
  ["de", "Kosten (Mio. €)", 1e6],
  ["ja", "（単位：百万円）".normalize("NFKC"), 1e6],
  ["en", "3 million lamps"],
])("the head of a column, %s: %s", (language, head, ...factors) => {
  expect(findColumnFactors(head, getVocabulary(language))).toEqual(factors);
});

test.each([
  ["digits", (n: number) => "1".repeat(n)],
  ["groups", (n: number) => "1,000 ".repeat(n / 6)],
  ["number words", (n: number) => "twenty-two ".repeat(n / 11)],
  ["bounds", (n: number) => "more than ".repeat(n / 10)],
  ["colons", (n: number) => "1:".repeat(n / 2)],
])("a text of nothing but %s is read in proportion to its length", (_name, textOf) => {
  expect(isLinear((length) => findFigures(textOf(length), getVocabulary("en")), 2_000)).toBe(true);
});

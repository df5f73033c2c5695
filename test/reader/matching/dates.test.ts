import { expect, test } from "vitest";
import { getVocabulary } from "../../../src/reader/languages/vocabulary.js";
import { findDates, findMonths } from "../../../src/reader/matching/dates.js";

/** The dates of a text as year-month-day with "?" for what is not said; readings of one date are parted by "|". */
function datesIn(text: string, language: string): string[] {
  return findDates(text, getVocabulary(language)).map(({ readings }) =>
    readings.map(({ year = "?", month, day = "?" }) => `${year}-${month}-${day}`).join("|"),
  );
}

test.each<[language: string, text: string, ...dates: string[]]>([
  ["en", "on July 4, 2024", "2024-7-4"],
  ["en", "on the 4th of July, 2024", "2024-7-4"],
  ["en", "4 Jul. 2024", "2024-7-4"],
  ["en", "2024-07-04 09:15", "2024-7-4"],
  ["en", "7/4/2024", "2024-7-4|2024-4-7"],
  ["en", "13/4/2024", "2024-4-13"],
  ["en", "07/2024", "2024-7-?"],
  ["en", "In July 2024 it rained", "2024-7-?"],
  ["en", "on 4 July", "?-7-4"],
  ["en", "3–7 May 2010", "2010-5-3", "2010-5-7"],
  ["en", "May 3–7, 2010", "2010-5-7", "2010-5-3"],
  ["en", "from June to September 2022", "2022-6-?", "2022-9-?"],
  ["en", "from 28 March to 2 April 2023", "?-3-28", "2023-4-2"],
  // The second is the last year of two: no press release on results writes a month so.
  ["en", "in the season of 2009-10"],
  ["en", "in 2009-08", "2009-8-?"],
  ["en", "version 4.7.24"],
  ["en", "on 2024-13-40"],
  ["de", "am 4. Juli 2024", "2024-7-4"],
  ["de", "am 04.07.2024", "2024-7-4"],
  ["de", "vom 3. bis 7. Mai 2010", "2010-5-3", "2010-5-7"],
  ["fr", "le 1er mai 2020", "2020-5-1"],
  ["es", "el 3 de mayo de 2021", "2021-5-3"],
  ["it", "il 12 ottobre 2024", "2024-10-12"],
  ["pt", "em 21 de janeiro de 2019", "2019-1-21"],
  ["nl", "op 22 maart 2025", "2025-3-22"],
  ["ja", "2023年11月3日に", "2023-11-3"],
  ["zh", "2024年3月", "2024-3-?"],
  ["ko", "2024년 3월 5일", "2024-3-5"],
  // Only digits are read in a language without a file.
  ["fi", "4. heinäkuuta 2024, 4.7.2024", "2024-7-4"],
])("%s: %s", (language, text, ...dates) => {
  expect(datesIn(text, language).sort()).toEqual(dates.sort());
});

test.each([
  ["en", "sales in May and june", [5, 6]],
  ["en", "they may march", []],
  ["de", "im März", [3]],
])("the months of %s: %s", (language, text, months) => {
  expect(findMonths(text, getVocabulary(language))).toEqual(months);
});

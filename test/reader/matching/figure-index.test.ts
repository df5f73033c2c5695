import { expect, test } from "vitest";
import { getVocabulary } from "../../../src/reader/languages/vocabulary.js";
import { FigureIndex, type Rounding } from "../../../src/reader/matching/figure-index.js";
import { findFigures } from "../../../src/reader/matching/numbers.js";

/** Whether the first figure of a sentence stands in a text, with `over` over that. */
function stands(
  sentence: string,
  text: string,
  { over = "", rounding = "written" as Rounding } = {},
): boolean {
  const vocabulary = getVocabulary("en", "de");
  const index = new FigureIndex(vocabulary, rounding);
  index.add({ text: "Nothing is here." }, 0);
  index.add({ text, over }, 1);
  const [figure] = findFigures(sentence, vocabulary);
  if (!figure) throw new Error("no figure");
  return index.findPlaces(figure).count > 0;
}

test.each([
  ["14 %", "14.3 %"],
  ["1.2 GB", "1,242 MB"],
  ["46,000", "46,321"],
  ["about 3,500", "3,260"],
  ["more than 3.4 million", "3,456,789"],
  ["26.2 miles", "42.195 km"],
  ["300 km/h", "186 mph"],
  ["180 lbs", "82 kg"],
  ["300 acres", "121 hectares"],
  ["57.6 °F", "14.2 °C"],
  ["1 h 30 min", "90 minutes"],
  ["90 minutes", "1:30"],
  ["3 hours and 5 minutes", "3:05"],
  ["3:05", "3 hours and 5 minutes"],
  ["14:05", "2024-05-06T14:05:33Z"],
  ["14:08", "[00:14:08]"],
  ["14:00", "14 Uhr"],
  ["20 %", "one in five"],
  ["66 %", "two thirds"],
  ["90 %", "a share of 0.9"],
  ["90 cents", "$0.90"],
  ["$0.90", "90 cents"],
  ["less than 9.5 m", "9.41 m"],
  ["14.50 pounds", "£14.50"],
  ["2.4 MB", "2.4 MiB of 2,400 KB"],
  ["4 July 2024", "04.07.2024"],
  ["July 2024", "4 July 2024"],
  // The directive ssl_protocols at nginx.org; releases of earnings at microsoft.com and jpmorganchase.com.
  ["TLS 1.3", "TLSv1.3"],
  ["2024", "in FY24"],
  ["2024", "up from 3Q24"],
  // What `docker ps` prints, at docs.docker.com.
  ["8080", "0.0.0.0:8080->80/tcp"],
  ["3 to 1", "3:1"],
  ["2.14", "2.14.0"],
])("%s is %s", (sentence, text) => {
  expect(stands(sentence, text)).toBe(true);
});

test.each([
  ["14 %", "13.4 %"],
  ["20 %", "1 door and 5 lamps"],
  ["1,700", "1600"],
  ["46,321", "46,000"],
  ["about 3 million", "2,600,000"],
  ["3 million", "2,850,000"],
  ["more than 3 million", "2,900,000"],
  ["2000", "2030"],
  ["77 km", "77, or 77 miles"],
  ["2 s", "2 minutes"],
  ["20 °C", "20 °F"],
  ["$500", "€500"],
  ["300 km", "305 km"],
  ["$500", "$510"],
  ["2.3 MW", "2.3 kW"],
  ["2020", "2021"],
  ["3:05", "3:50"],
  ["4 July 2024", "5 July 2024"],
  ["4 July 2024", "4 July 2023"],
  ["77 km", "77 kg and 77 miles"],
  ["3 of them", "in March"],
])("%s is not %s", (sentence, text) => {
  expect(stands(sentence, text)).toBe(false);
});

test.each([
  ["$4.81 billion", "4,812,655", "(in thousands of dollars)"],
  ["2 s", "2000", "timeout (ms)"],
  ["4.2 million crowns", "4,2", "Cost (million crowns)"],
  ["10 minutes", "idle_timeout | 600 | s", ""],
])("%s is %s under %s", (sentence, text, over) => {
  expect(stands(sentence, text, { over })).toBe(true);
});

test.each([
  ["$500", "510", "Price ($)"],
  ["$4.21 billion", "4,812,655", "(in thousands of dollars)"],
  ["10 minutes", "idle_timeout | 900 | s", ""],
])("%s is not %s under %s", (sentence, text, over) => {
  expect(stands(sentence, text, { over })).toBe(false);
});

test("a page says once that its numbers are in thousands", () => {
  const vocabulary = getVocabulary("en");
  const index = new FigureIndex(vocabulary);
  index.add({ text: "All figures are in thousands." }, 0);
  index.add({ text: "Revenue: 4,812,655" }, 1);
  const [figure] = findFigures("4.8 billion dollars", vocabulary);
  expect(figure && index.findPlaces(figure).has(1)).toBe(true);
});

test("numbers are rounded by their decimals alone where that is asked for", () => {
  expect(stands("46,000", "46,321", { rounding: "decimals" })).toBe(false);
  expect(stands("14 %", "14.3 %", { rounding: "decimals" })).toBe(true);
});

test.each([
  ["more than 1,000", "1,450", true],
  ["more than 1,000", "950", false],
  ["more than 1,000", "2,450", false],
  ["fewer than 20", "12", true],
  ["fewer than 20", "22", false],
])("%s leaves %s open: %s", (sentence, text, isOpen) => {
  const vocabulary = getVocabulary("en");
  const index = new FigureIndex(vocabulary);
  index.add({ text }, 0);
  const [figure] = findFigures(sentence, vocabulary);
  expect(figure?.kind === "number" && index.findPlaces(figure, "", "open").count > 0).toBe(isOpen);
});

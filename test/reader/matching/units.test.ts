import { expect, test } from "vitest";
import { getVocabulary } from "../../../src/reader/languages/vocabulary.js";
import { convertAmount, unitNames } from "../../../src/reader/matching/units.js";

const findByName = (sign: string, language = "en") => unitNames(getVocabulary(language)).findUnit(sign);

test.each([
  ["MB", "MB"],
  ["Mb", "Mbit"],
  ["mb", undefined],
  ["GB", "GB"],
  ["ms", "ms"],
  ["minutes", "min"],
  ["μg", "ug"],
  ["square kilometres", "km2"],
  ["percentage points", "points"],
  ["US$", "dollar"],
  ["°F", "F"],
  ["lamps", undefined],
])("%s is %s", (sign, id) => {
  expect(findByName(sign)?.id).toBe(id);
});

test.each([
  ["de", "Stunden", "h"],
  ["fr", "heures", "h"],
  ["es", "horas", "h"],
  ["it", "ore", "h"],
  ["nl", "uur", "h"],
  ["pt", "horas", "h"],
  ["de", "Meilen", "mi"],
  ["de", "Fuß", "ft"],
  ["fr", "pieds", "ft"],
  ["fr", "centimes", "cent"],
  ["es", "millas", "mi"],
  ["es", "céntimos", "cent"],
  ["it", "miglia", "mi"],
  ["nl", "mijl", "mi"],
  ["pt", "milhas", "mi"],
  ["ja", "週間", "week"],
  ["ko", "주", "week"],
  ["zh", "周", "week"],
])("words of %s: %s", (language, word, id) => {
  expect(findByName(word, language)?.id).toBe(id);
});

test("pounds are a weight and a currency", () => {
  expect(findByName("pounds")).toMatchObject({ kind: "mass", or: { kind: "money", id: "sterling" } });
});

/** How much of one unit an amount of another is. */
test.each([
  [42.195, "km", 26.2188, "miles"],
  [1, "ft", 0.3048, "m"],
  [100, "ha", 1, "km²"],
  [10, "lb", 4.5359, "kg"],
  [20, "°C", 68, "°F"],
  [100, "km/h", 62.137, "mph"],
  [90, "min", 1.5, "h"],
  [1024, "KiB", 1, "MiB"],
  [50, "l", 13.2086, "gallons"],
  [3.2, "GHz", 3200, "MHz"],
])("%d %s are %d %s", (value, sign, other, otherSign) => {
  const [unit, converted] = [findByName(sign), findByName(otherSign)];
  if (!unit || !converted) throw new Error("no unit");
  expect(unit.measure).toBe(converted.measure);
  expect(convertAmount(value, unit)[0]).toBeCloseTo(convertAmount(other, converted)[0] ?? 0, 0);
});

test("20 °C are not 20 °F, a KB has 1,000 or 1,024 bytes, and no currency is another", () => {
  const amount = (value: number, sign: string) =>
    convertAmount(value, findByName(sign) ?? findByName("s") ?? never());
  expect(amount(20, "°C")).not.toEqual(amount(20, "°F"));
  expect(amount(2, "kB")).toEqual([2_000, 2_048]);
  expect(findByName("$")?.measure).not.toBe(findByName("€")?.measure);
  expect(findByName("h")?.others).toContain("min");
});

function never(): never {
  throw new Error("no unit");
}

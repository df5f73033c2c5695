import { expect, it } from "vitest";
import { getVocabulary } from "../../../src/reader/languages/vocabulary.js";
import { findNames, splitIntoStems } from "../../../src/reader/matching/words.js";

it.each([
  ["The limits of hourly creates", ["limit", "hour", "creat"]],
  ["keepAliveTimeout", ["keep_alive_timeout", "keep", "aliv", "timeout"]],
  ["max_connections = 100", ["max_connections", "max", "connection", "100"]],
  ["keep-alive", ["keep", "aliv"]],
  ["Was it too far down, or was he himself below the same roof?", ["far", "roof"]],
  [
    "Größen\u00adordnung, allo\u2010\n    cated, log\u00ad\nbook, Jean\u2010Luc",
    ["größenordnung", "allocat", "logbook", "jean", "luc"],
  ],
  ["日本語", ["日本", "本語"]],
  ["Größe", ["größe"]],
  [`hash ${"a1".repeat(40)}`, ["hash"]],
])("%s", (text, expected) => {
  expect(splitIntoStems(text)).toEqual(expected);
});

it.each<[string, string, string[]]>([
  ["en", "The Harbor Line opened in March.", ["The Harbor Line"]],
  // What somebody said names nobody of whom the page must speak beside the figure.
  [
    "en",
    "Ridership rose by 4, “since the Old Town Hall was closed for us”, Keller said.",
    ["Ridership", "Keller"],
  ],
  ["en", "The “Blue Book” has 12 chapters.", ["The", "Blue Book"]],
  ["en", "By default idle_timeout is 30 s.", ["By", "idle_timeout"]],
  ["de", "Die „Blaue Mappe“ der EZB hat 12 Seiten.", ["EZB", "Blaue Mappe"]],
])("the names of a sentence in %s: %s", (language, text, names) => {
  expect(findNames(text, language, getVocabulary(language))).toEqual(names);
});

import { expect, it } from "vitest";
import { checkSentence } from "../../../../../src/server/researchers/model/checks/sentence.js";

const QUOTES = [
  "The server has 4 threads, see https://example.com/threads.",
  "The proxy waits thirty seconds.",
];
const check = (text: string, facts: number[] = [1]) =>
  checkSentence({ text, facts }, QUOTES, "Is Node 20 fast?");

it.each<[string, string, number[]]>([
  ["a number of a cited quote", "It has four threads.", [1]],
  ["a number of the question", "Node 20 is.", [1]],
  ["an address of a quote", "See https://example.com/threads.", [1]],
  ["words of a quote between quotation marks", 'It "has 4 threads".', [1]],
  ["a number of another quote that it cites", "It waits 30 seconds.", [1, 2]],
])("%s may stand in it", (_name, text, facts) => {
  expect(check(text, facts)).toEqual({ text, facts });
});

it.each<[string, string, number[]]>([
  ["a number of a quote that it does not cite", "It waits 30 seconds.", [1]],
  ["a number of its own in words", "It has five threads.", [1]],
  ["another address", "See https://example.org/threads.", [1]],
  ["an address without a scheme", "See www.example.org now.", [1]],
  ["a link to elsewhere", "See [the threads](evil.example).", [1]],
  ["an image of elsewhere", "See ![it](//evil.example/x).", [1]],
  ["HTML", "See <img src=//evil.example>.", [1]],
  ["other words between quotation marks", 'It has "no threads".', [1]],
  ["no fact", "It has threads.", []],
  ["a fact that does not exist", "It has threads.", [3]],
  ["no words", "…", [1]],
])("%s may not", (_name, text, facts) => {
  expect(check(text, facts)).toBeUndefined();
});

it("is put on one line, and marks in its text are citations too", () => {
  expect(check("# It waits\n30 seconds [2].", [])).toEqual({ text: "It waits 30 seconds.", facts: [2] });
});

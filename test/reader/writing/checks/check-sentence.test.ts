import { describe, expect, it } from "vitest";
import { checkSentence, readStepNumber } from "../../../../src/reader/writing/checks/check-sentence.js";
import { findQuote } from "../../../../src/reader/writing/quoted-facts.js";
import { factWith } from "../../../support/facts.js";

const FACTS = [
  factWith("The server has 4 threads, see https://example.com/threads."),
  factWith("The proxy waits thirty seconds.", { heading: "Proxy / 3.2.0 (2026-04-11)" }),
  factWith("| a | 5 |", { header: ["size", "within 24 hours"] }),
  factWith("Of 1,980 files all older than 14 days are removed at 02:30 after 90 minutes."),
];
const check = (text: string, facts: number[] = [1]) =>
  checkSentence({ text, facts }, FACTS, "Is Node 20 fast?");

it.each<[string, string, number[]]>([
  ["a number of a cited quote", "It has four threads.", [1]],
  ["a number of the question", "Node 20 is.", [1]],
  ["an address of a quote", "See https://example.com/threads.", [1]],
  ["words of a quote between quotation marks", 'It "has 4 threads".', [1]],
  ["a version and a date of the heading", "Since 3.2.0 (2026-04-11) it waits.", [2]],
  ["a number over the column", "Within 24 hours it is 5.", [3]],
  ["an apostrophe inside words", "It doesn't wait, and the proxy's threads don't.", [1]],
  ["a number of another quote that it cites", "It waits 30 seconds.", [1, 2]],
  ["an address with marks behind it", "See https://example.com/threads?!", [1]],
  ["a number in another unit", "It waits half a minute, 0.5 minutes or 30000 ms.", [2]],
  ["a time without its zero", "It begins at 2:30.", [4]],
  ["a unit in Spanish", "Espera 1,5 horas y dos semanas.", [4]],
  ["a unit in French", "Il attend 1,5 heures.", [4]],
  ["a rounded number in Spanish", "Son cerca de 2000 archivos.", [4]],
  ["one of something", "It waits for one of the threads.", [1]],
  ["quotation marks around no word", 'It has "…" threads.', [1]],
])("%s may stand in it", (_name, text, facts) => {
  expect(check(text, facts)).toEqual({ text, facts });
});

it.each<[string, string, number[], string]>([
  ["a number of a quote that it does not cite", "It waits 30 seconds.", [1], "the number 30 seconds"],
  ["a number of its own in words", "It has five threads.", [1], "the number five"],
  ["another address", "See https://example.org/threads.", [1], "https://example.org/threads"],
  ["an address without a scheme", "See www.example.org now.", [1], "www.example.org"],
  ["a link to elsewhere", "See [the threads](evil.example).", [1], "evil.example"],
  ["an image of elsewhere", "See ![it](//evil.example/x).", [1], "//evil.example/x"],
  ["HTML", "See <img src=//evil.example>.", [1], "<img src=//evil.example>"],
  ["a number in a unit that is another amount", "It waits 30 minutes.", [2], "the number 30 minutes"],
  ["a number that is not rounded", "It has about 5 threads.", [1], "the number 5"],
  ["other words between quotation marks", 'It has "no threads".', [1], 'the quotation "no threads"'],
])("%s may not", (_name, text, facts, what) => {
  expect(check(text, facts)).toEqual({ wrong: `${what} is in none of its facts` });
});

it.each<[string, string, number[], string]>([
  ["without a fact", "It has threads.", [], "it names no fact"],
  ["of a fact that does not exist", "It has threads.", [7], "it names no fact"],
  ["without words", "…", [1], "it says nothing"],
  ["of many characters", `It has ${"threads ".repeat(160)}.`, [1], "it is too long for a sentence"],
])("a sentence %s may not", (_name, text, facts, wrong) => {
  expect(check(text, facts)).toEqual({ wrong });
});

it.each([
  "“no %s”",
  "„no %s“",
  "„no %s”",
  "«no %s»",
  "»no %s«",
  "‹no %s›",
  "›no %s‹",
  "‚no %s‘",
  "‘no %s’",
  "「no %s」",
  "『no %s』",
  "'no %s'",
  '"no %s"',
])("an invented quotation in %s may not", (marks) => {
  expect(check(`It has ${marks.replace("%s", "threads")}.`)).toEqual({
    wrong: 'the quotation "no threads" is in none of its facts',
  });
  expect(check(`It ${marks.replace("no %s", "has 4 threads")}.`)).toHaveProperty("text");
});

it("the number of a step is none, and goes", () => {
  expect(check("3. Look at the threads.")).toEqual({ text: "Look at the threads.", facts: [1] });
  expect(readStepNumber("3. Look")).toBe(3);
  expect(readStepNumber(" 12) Look")).toBe(12);
  expect(readStepNumber("Look at 3.")).toBeUndefined();
});

it("is put on one line, and marks in its text are citations too", () => {
  expect(check("# It waits\n30 seconds [2].", [])).toEqual({ text: "It waits 30 seconds.", facts: [2] });
});

it.each([
  "- It waits.",
  "- # > It waits.",
  "*  It   waits.",
  ">> # It waits.",
  " It waits. [1]",
  "It [1, 1] waits.",
  "It+ waits.",
])("marks of Markdown go: %s", (text) => {
  expect(check(text)).toEqual({ text: text.includes("+") ? text : "It waits.", facts: [1] });
});

describe("code", () => {
  const quotes = [
    factWith("Run `git checkout <branch>` and then tar -xf FILE --prune=<date>."),
    factWith("    $ npm ci \\\n    $ npm   run build"),
    factWith("`wal_level` must not be `minimal`; see http://HOST/health."),
  ];
  const code = (text: string) => checkSentence({ text, facts: [1, 2, 3] }, quotes, "What does `make` do?");

  it.each([
    "Run `git checkout <branch>`.",
    "Run `git checkout main`.",
    "Run `tar -xf backup.tar` first.",
    "Use `--prune=now`.",
    "$ npm run build",
    "```sh\nnpm ci\nnpm run build\n```\nbuilds it.",
    "`wal_level = minimal` will not do.",
    "Ask `curl`-less, with ``npm ci``, for `make`.".replace("`curl`-less", "less"),
  ])("may stand in it: %s", (text) => {
    expect(code(text)).toHaveProperty("text");
  });

  it.each([
    ["Run `git checkout main --force`.", "git checkout main --force"],
    ["Run `git clean -fdx`.", "git clean -fdx"],
    ["$ npm publish", "npm publish"],
    ["It is built:\n```\nnpm ci\nnpm publish\n```", "npm publish"],
    ["Run `pm ci`.", "pm ci"],
    ["Run `tar -xf backup.tar; reboot`.", "tar -xf backup.tar; reboot"],
    ["`wal_level=off` will do.", "wal_level=off"],
  ])("may not: %s", (text, what) => {
    expect(code(text)).toEqual({ wrong: `the code "${what}" is in none of its facts` });
  });

  it("with many placeholders takes no long time", () => {
    const hostile = [factWith("<a><b><c><d><e><f><g><h><i><j>;")];
    const begun = process.cpuUsage();
    checkSentence({ text: `It is \`${"x".repeat(1_000)}\`.`, facts: [1] }, hostile, "");
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });
});

it.each([" ", "\n", "```  "])(
  "a long run of %j in a sentence, its quote or a value takes no long time",
  (gap) => {
    const long = `The limit${gap.repeat(50_000 / gap.length)}is 5.`;
    const begun = process.cpuUsage();
    checkSentence({ text: long, facts: [1] }, [factWith(long)], "");
    findQuote("The limit is 5.", long, "prose");
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  },
);

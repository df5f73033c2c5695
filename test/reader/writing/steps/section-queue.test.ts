import { expect, it } from "vitest";
import type { Progress } from "../../../../src/core/researcher.js";
import type { Passage, Source } from "../../../../src/reader/searching/source.js";
import { SectionQueue } from "../../../../src/reader/writing/steps/section-queue.js";

const passage = (id: string, line: number, text: string, heading = ""): Passage => ({
  id,
  line,
  lines: text.split("\n"),
  heading,
  kind: "prose",
});

/** A queue on passages in which each query finds what holds it; `asked` are the queries and the stretches opened. */
function queueOf(...passages: Passage[]) {
  return queueFinding((query) => passages.filter(({ lines }) => lines.join("\n").includes(query)), passages);
}

function queueFinding(find: (query: string) => Passage[], passages: Passage[]) {
  const asked: string[] = [];
  const reports: Partial<Progress>[] = [];
  const source: Source = {
    async search(query, n) {
      asked.push(`${query} ${n}`);
      return find(query).map((one) => ({ passage: one, score: 1, share: 1 }));
    },
    async open(id, from, to) {
      asked.push(`${id} ${from}-${to}`);
      const ofDocument = passages.filter((one) => one.id === id);
      return id.startsWith("gone") ? undefined : { document: { id, title: id }, passages: ofDocument };
    },
    describe: async () => ({ kind: "", documents: 0, titles: [], languages: [], unread: [], notes: [] }),
  };
  const queue = new SectionQueue(source, (progress) => reports.push(progress));
  const read = async (maxBytes = 24_000) =>
    (await queue.takeNext(maxBytes)).map(({ passages: own }) => own.map(({ lines }) => lines.join("\n")));
  return { queue, asked, told: reports, read };
}

it("takes what has two words of its query before what has one", async () => {
  const texts = [
    "the timeout of a lock",
    "the timeout of requests",
    "a request of some client has a timeout",
  ];
  const passages = texts.map((text, i) => passage(`${i}`, 1, text));
  const readBy = async (query: string) => {
    const { queue } = queueFinding(() => passages, passages);
    await queue.search([query]);
    return (await queue.takeNext(24_000)).map(({ document }) => document.id);
  };
  expect(await readBy("What is the request timeout?")).toEqual(["1", "2", "0"]);
  expect(await readBy("timeout")).toEqual(["0", "1", "2"]);
});

it("takes the best of each query in turn, and searches for nothing twice", async () => {
  const { queue, asked, told, read } = queueOf(
    passage("a", 1, "alpha one"),
    passage("b", 1, "alpha two"),
    passage("c", 1, "beta three"),
    passage("d", 1, "gamma four"),
  );
  expect(queue.isEmpty).toBe(true);
  await queue.search(["alpha", "beta", "alpha"]);
  await queue.search(["beta"]);
  expect(asked).toEqual(["alpha 15", "beta 15"]);
  expect(told).toEqual([
    { step: "search", done: 0, of: 2 },
    { step: "search", done: 1, of: 2 },
  ]);
  expect(queue.isEmpty).toBe(false);
  // What was asked for last is read first.
  await queue.search(["gamma"]);
  expect(await read()).toEqual([["gamma four"], ["alpha one"], ["beta three"], ["alpha two"]]);
  expect(queue.isEmpty).toBe(true);
  expect(told.slice(3)).toEqual([
    { step: "read", done: 1, of: 4, pages: 1 },
    { step: "read", done: 2, of: 4, pages: 2 },
    { step: "read", done: 3, of: 4, pages: 3 },
    { step: "read", done: 4, of: 4, pages: 4 },
  ]);
  queue.say("note");
  expect(told.at(-1)).toEqual({ step: "note", done: 4, of: 4, pages: 4 });
});

it("opens what stands under the same heading around a passage and within it, once", async () => {
  const { queue, asked, read } = queueOf(
    passage("a", 1, "before", "Other"),
    passage("a", 3, "first", "Top"),
    passage("a", 500, "hit\nmore", "Top"),
    passage("a", 503, "within", "Top / Sub"),
    passage("a", 505, "hit too", "Top / Sub"),
    passage("a", 507, "behind", "Topmost"),
  );
  await queue.search(["hit"]);
  expect(await read()).toEqual([["first", "hit\nmore", "within", "hit too"]]);
  expect(asked[1]).toBe("a 300-702");
  await queue.search(["behind"]);
  expect(await read()).toEqual([["behind"]]);
  expect(await read()).toEqual([]);
});

it("takes as much as fits around a passage, from both sides", async () => {
  const long = (letter: string) => letter.repeat(2_500);
  const { queue, read } = queueOf(
    ...["a", "b", "c hit ", "d", "e"].map((letter, i) =>
      passage("x", i + 1, long(letter).slice(0, 2_500), "H"),
    ),
  );
  await queue.search(["c hit"]);
  const [section] = await read();
  expect(section?.map((text) => text[0])).toEqual(["b", "c", "d"]);
});

it("cuts a passage that is too long in whole characters", async () => {
  const { queue, read } = queueOf(passage("x", 1, `${"ü".repeat(5_000)}\nend`));
  await queue.search(["ü"]);
  expect(await read(101)).toEqual([["ü".repeat(50)]]);
  const other = queueOf(passage("x", 1, `${"ü".repeat(5_000)}\nend`));
  await other.queue.search(["ü"]);
  expect(await other.read()).toEqual([["ü".repeat(4_000)]]);
});

it("gives what does not fit the next time, and one section at least", async () => {
  const { queue, read } = queueOf(
    passage("a", 1, `hit${" alpha".repeat(50)}`),
    passage("b", 1, `hit${" beta".repeat(60)}`),
    passage("c", 1, `hit${" gamma".repeat(50)}`),
  );
  await queue.search(["hit"]);
  const last = (sections: string[][]) => sections.map(([text]) => text?.split(" ").at(-1));
  expect(last(await read(800))).toEqual(["alpha", "beta"]);
  expect(last(await read(10))).toEqual(["gamma"]);
});

it("reads again what is put back, cut to what fits, before all else", async () => {
  const { queue, read } = queueOf(
    passage("a", 1, `hit ${"a".repeat(300)}`),
    passage("a", 2, "b".repeat(300)),
    passage("c", 1, "hit c"),
  );
  await queue.search(["hit a"]);
  const sections = await queue.takeNext(24_000);
  expect(sections[0]?.passages).toHaveLength(2);
  await queue.search(["hit c"]);
  queue.putBack(sections, 400);
  expect(await read()).toEqual([[`hit ${"a".repeat(300)}`], ["hit c"]]);
});

it("leaves out what says the same as another, and what is gone", async () => {
  const words = "one two three four five six seven eight nine ten eleven";
  const { queue, read } = queueOf(
    passage("a", 1, `hit ${words}`),
    passage("b", 1, `hit ${words}`),
    passage("c", 1, `hit ${words} twelve thirteen fourteen`),
    passage("gone", 1, "hit this"),
  );
  await queue.search(["hit"]);
  const sections = await read();
  expect(sections).toHaveLength(2);
  expect(sections[1]?.[0]).toContain("fourteen");
});

it("takes some paragraphs where there are no headings, and none of them in part", async () => {
  const lines = (count: number, word: string) => Array(count).fill(`a line of ${word}`).join("\n");
  // The second paragraph has 30 lines, which are two blocks.
  const { queue, read } = queueOf(
    passage("a", 1, lines(20, "the first")),
    passage("a", 22, lines(20, "the second")),
    passage("a", 42, lines(10, "the second's end")),
    passage("a", 53, lines(15, "what is sought")),
    passage("a", 69, lines(10, "the fourth")),
    passage("a", 80, lines(20, "the fifth")),
    passage("a", 100, lines(60, "the fifth's end")),
  );
  await queue.search(["sought"]);
  expect(await read()).toEqual([
    [
      lines(20, "the second"),
      lines(10, "the second's end"),
      lines(15, "what is sought"),
      lines(10, "the fourth"),
    ],
  ]);
});

import { expect, test } from "vitest";
import { PageContent } from "../../../src/reader/checking/indexed-page.js";
import { judgeClaims } from "../../../src/reader/checking/judge-claims.js";
import type { CitedPage } from "../../../src/reader/checking/judge-sentence.js";
import { isLinearInTurns } from "../../support/growth.js";

const page = (texts: readonly string[]): CitedPage => ({
  entry: { state: "read", reason: null },
  content: new PageContent(texts.map((text) => ({ text, over: "" }))),
});
const claims = (length: number, textOf: (i: number) => string = (i) => `Sentence ${i} says 77.`) =>
  Array.from({ length }, (_, i) => ({
    text: textOf(i),
    over: "",
    urls: ["x"],
    field: undefined,
    start: i,
    end: i,
  }));
const never = new AbortController().signal;

/** A clock of which each look takes so long, ms. */
function clockOf(stepMs: number) {
  let now = 0;
  return {
    monotonic: () => {
      now += stepMs;
      return now;
    },
  };
}

const cited = [page(["The answer is 77.", "Sentence 3 says 77 of them."])];

test("the claims are judged in their order", async () => {
  const { citations, isWhole } = await judgeClaims(claims(5), () => cited, "en", {
    ...{ clock: clockOf(0), signal: never, end: 1 },
  });
  expect(isWhole).toBe(true);
  expect(citations.map(({ claim }) => claim)).toEqual(claims(5).map(({ text }) => text));
});

test.each([
  ["an abort", AbortSignal.abort(), Number.MAX_SAFE_INTEGER],
  ["the end of its time", never, 0],
])("%s ends it after a second, and what was judged is kept", async (_name, signal, end) => {
  const { citations, isWhole } = await judgeClaims(
    claims(500, () => "The answer is 77."),
    () => cited,
    "en",
    {
      ...{ clock: clockOf(10), signal, end },
    },
  );
  expect(isWhole).toBe(false);
  expect(citations).toHaveLength(500);
  expect(citations[0]).toMatchObject({ verdict: "found", reason: null });
  expect(citations.at(-1)).toMatchObject({
    ...{ verdict: "unchecked", missing: [], passage: null },
    reason: "the check ended before the sentence was judged",
  });
});

test("reading one long page gives way, too, so that an abort ends it", async () => {
  const long = page(
    Array.from({ length: 3_000 }, (_, i) => `Paragraph ${i} says ${i} things about 77 of them.`),
  );
  const ending = new AbortController();
  const judging = judgeClaims(claims(1), () => [long], "en", {
    ...{ clock: clockOf(1_500), signal: ending.signal, end: Number.MAX_SAFE_INTEGER },
  });
  setImmediate(() => ending.abort());
  expect(await judging).toMatchObject({ isWhole: false });
});

test("an error that is no end of time is not swallowed", async () => {
  const failing = () => {
    throw new TypeError("odd");
  };
  const options = { clock: clockOf(0), signal: never, end: 1 };
  await expect(judgeClaims(claims(1), failing, "en", options)).rejects.toThrow(TypeError);
});

test.each<[name: string, paragraphOf: (i: number) => string]>([
  ["the number", (i) => `Paragraph ${i} says 77.`],
  ["other numbers near it", (i) => `Sentence says ${77 + i / 1e6}.`],
])(
  "a page of which each paragraph has %s is judged in proportion to its length",
  async (_name, paragraphOf) => {
    const judgeSome = async (length: number) => {
      const content = page(Array.from({ length }, (_, i) => paragraphOf(i)));
      const options = { clock: clockOf(0), signal: never, end: 1 };
      await judgeClaims(claims(length), () => [content], "en", options);
    };
    expect(await isLinearInTurns(judgeSome, 50)).toBe(true);
  },
);

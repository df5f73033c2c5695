import { describe, expect, test } from "vitest";
import { type AskedSentence, holding, honest } from "../../support/held-sentences.js";
import { judgeSet, seededNumbers } from "../../support/judged-set.js";
import { answers, type ChatRequest, hangs, type Play, says } from "../../support/model-endpoint.js";
import { SENTENCES } from "./set/sentences.js";

const WRONG = SENTENCES.filter(({ verdict }) => verdict !== "supported").length;
const TRUE = SENTENCES.length - WRONG;

test.each([1, 4])("an honest model names what is wrong and supports what is true (seed %i)", async (seed) => {
  const {
    answers: all,
    usage,
    failures,
  } = await judgeSet(honest(SENTENCES), { random: seededNumbers(seed) });
  const supports = SENTENCES.map(({ verdict }, i) => ({ verdict, support: all[i]?.support }));
  const named = supports.filter(
    ({ verdict, support }) => verdict !== "supported" && support && support !== "supported",
  );
  const denied = supports.filter(
    ({ verdict, support }) => verdict === "supported" && support === "contradicted",
  );
  const supported = supports.filter(({ verdict, support }) => verdict === "supported" && support === verdict);
  expect(failures).toBe(0);
  expect(named.length).toBeGreaterThanOrEqual(WRONG - 3);
  expect(denied).toEqual([]);
  expect(supported.length).toBeGreaterThanOrEqual(TRUE - 2);
  expect(
    supports.filter(({ verdict, support }) => verdict !== "supported" && support === "supported"),
  ).toEqual([]);
  expect((usage.input_tokens + usage.output_tokens) / SENTENCES.length).toBeLessThanOrEqual(700);
});

/** What a model says of all sentences by one rule. */
const always = (verdict: string, quoteOf: (asked: AskedSentence, passages: string) => string) =>
  holding((asked, { passages }) => ({ verdict, quote: quoteOf(asked, passages) }));
const firstPassage = (passages: string) => /^> (.*)$/m.exec(passages)?.[1] ?? "";
const random = seededNumbers(7);
const pickVerdict = () => ["supported", "contradicted", "not_stated"][Math.floor(random() * 3)] ?? "";
const pickPassage = (passages: string) => {
  const all = [...passages.matchAll(/^> (.*)$/gm)].map(([, text = ""]) => text);
  return all[Math.floor(random() * all.length)] ?? "";
};

describe("no answer of a model counts", () => {
  const hostile: [string, (request: ChatRequest) => Play][] = [
    ["that quotes the sentence itself", always("supported", ({ text }) => text)],
    ["that quotes the sentence itself against it", always("contradicted", ({ text }) => text)],
    ["that quotes another page", always("supported", () => "a page that nobody was shown says 598,000")],
    ["that always says yes", always("supported", (_, passages) => firstPassage(passages))],
    ["that always says no", always("contradicted", (_, passages) => firstPassage(passages))],
    ["that always says that nothing is stated", always("not_stated", () => "")],
    [
      "that answers at random",
      holding((_, { passages }) => ({ verdict: pickVerdict(), quote: pickPassage(passages) })),
    ],
    ["that writes prose", () => says("I have looked at all of these sentences, and they seem fine to me.")],
    [
      "that gives 10,000 verdicts",
      () =>
        says({
          held: Array.from({ length: 10_000 }, (_, i) => ({
            sentence: i + 1,
            verdict: "supported",
            quote: "",
          })),
        }),
    ],
    [
      "that gives two verdicts on a sentence",
      (request) => {
        const { held } = heldBy(request);
        return says({ held: [...held, { ...held[0], verdict: "not_stated" }] });
      },
    ],
    [
      "that writes instructions for the terminal",
      always("supported", () => "\u001b]0;owned\u0007\u001b[2J598,000 passengers"),
    ],
  ];
  test.each(hostile)("%s", async (_name, script) => {
    const { answers: all, endpoint, plans, hasFailed, end } = await judgeSet(script);
    expect(all.filter(Boolean)).toEqual([]);
    expect(hasFailed).toBe(true);
    expect(end).toMatch(/failed the hidden test/);
    const [plan] = plans as { calls: number }[];
    expect(endpoint.requests.length).toBeLessThanOrEqual(2 * (plan?.calls ?? 0));
  });
});

/** The honest answers to a request. */
function heldBy(request: ChatRequest): { held: object[] } {
  const chunks: string[] = [];
  const response = { writeHead: () => {}, write: (text: string) => chunks.push(text), end: () => {} };
  void honest(SENTENCES)(request)(response as never, request);
  const text = chunks
    .map((chunk) => JSON.parse(chunk.replace(/^data: /, "")).choices?.[0]?.delta?.content ?? "")
    .join("");
  return JSON.parse(text);
}

test("a page that tells an obedient model what to answer loses its own groups alone", async () => {
  const script = (request: ChatRequest) =>
    request.input.includes("Sound Ferries: annual review")
      ? always("supported", (_, passages) => firstPassage(passages))(request)
      : honest(SENTENCES)(request);
  // A model that was good for long: two failures are less than a tenth.
  const reliability = { replies: 100, failures: 0, isDropped: false };
  const { answers: all, failures } = await judgeSet(script, { reliability });
  expect(failures).toBeGreaterThanOrEqual(2);
  const countSupports = (isFerry: boolean) =>
    SENTENCES.filter(({ pages }, i) => (pages[0] === "ferry") === isFerry && all[i]?.support).length;
  expect(countSupports(true)).toBe(0);
  expect(countSupports(false)).toBeGreaterThan(35);
});

describe("a limit keeps what was judged:", () => {
  test.each([
    ["calls", { tokens: 1e6, calls: 2, ms: 1e6 }],
    ["tokens", { tokens: 9_000, calls: 100, ms: 1e6 }],
  ] as const)("%s", async (what, limits) => {
    const { answers: all, usage, end, hasFailed } = await judgeSet(honest(SENTENCES), { limits });
    expect(all.filter(Boolean).length).toBeGreaterThan(5);
    expect(all.filter(Boolean).length).toBeLessThan(SENTENCES.length);
    expect(end).toBe(`the limit of --model-${what} was reached`);
    expect(hasFailed).toBe(false);
    expect(usage.calls).toBeLessThanOrEqual(limits.calls);
    expect(usage.input_tokens + usage.output_tokens).toBeLessThanOrEqual(limits.tokens);
  });
});

test("an abort keeps what was judged", async () => {
  const stop = new AbortController();
  const script = (request: ChatRequest): Play => (request.nth < 4 ? honest(SENTENCES)(request) : hangs);
  const judged = judgeSet(
    (request) => {
      if (request.nth === 4) stop.abort(new Error("stop"));
      return script(request);
    },
    { signal: stop.signal },
  );
  const { answers: all, end } = await judged;
  expect(all.filter(Boolean).length).toBeGreaterThan(15);
  expect(end).toBe("the check was interrupted");
});

test("an endpoint that refuses is named with its words, and nothing is judged", async () => {
  const refusal = answers(400, { error: { message: "this account is closed" } });
  const { answers: all, end, hasFailed } = await judgeSet(() => refusal);
  expect(all.filter(Boolean)).toEqual([]);
  expect(hasFailed).toBe(true);
  expect(end).toContain("this account is closed");
});

import { describe, expect, it } from "vitest";
import type { ResearchUpdate } from "../../../src/core/researcher.js";
import { type ChatRequest, modelEndpoint, says, sourceWith } from "../../support/model-endpoint.js";
import { ask, behaving, jobOf, noteOf, researcherFor, TIMEOUT } from "../../support/model-researcher.js";

const answered = (report: unknown) => String(report).split("\n## Quotes\n")[0] ?? "";
/** A model that notes `quotes` from whatever source holds them, and then answers with `answer`. */
const noting = (quotes: string[], answer: object) =>
  behaving({
    notes: (request) =>
      says({
        facts: quotes.flatMap((quote) => {
          const source = sourceWith(request, quote);
          return source > 0 ? [{ claim: quote.slice(0, 20), source, quote }] : [];
        }),
        queries: [],
      }),
    answer: () => says(answer),
  });
const statement = (text: string, ...facts: number[]) => ({ text, facts });

describe("a how-to with numbered steps", () => {
  const files = {
    "move.md":
      "# Moving the server\n\n1. Stop the server.\n2. Copy the folder.\n3. Change the address.\n4. Start the server.\n5. Look at the log for 10 minutes.\n",
  };
  const STEPS = [
    "Stop the server.",
    "Copy the folder.",
    "Change the address.",
    "Start the server.",
    "Look at the log for 10 minutes.",
  ];
  const job = jobOf("How do I move the server?");
  const withSteps = (texts: string[]) =>
    modelEndpoint(noting(STEPS, { sentences: texts.map((text, i) => statement(text, i + 1)) }));

  it("is left out whole, and said, if one cannot stand, also when it was asked for once more", async () => {
    const endpoint = await withSteps(STEPS.map((text, i) => `${i + 1}. ${text.replace("10", "99")}`));
    const report = String(await ask(endpoint, { files }, job));
    expect(endpoint.count("answer")).toBe(2);
    expect(
      endpoint.requests.findLast(({ step }) => step === "answer")?.body.messages.at(-1)?.content,
    ).toContain("the number 99 minutes is in none of its facts");
    expect(report).toContain("whole lists of steps, since a step of each is not supported (1)");
    expect(report).not.toMatch(/^\d\. Start the server/m);
  });

  it("is mended by a model that is told why, and keeps all five", async () => {
    const endpoint = await modelEndpoint((request) => {
      const minutes = request.body.messages.length > 2 ? "10" : "99";
      const sentences = STEPS.map((text, i) => statement(`${i + 1}. ${text.replace("10", minutes)}`, i + 1));
      return noting(STEPS, { sentences })(request);
    });
    const all = STEPS.map((text, i) => `${i + 1}. ${text} [${i + 1}]`).join("\n");
    expect(answered(await ask(endpoint, { files }, job))).toContain(all);
  });
});

it("a row of a table in one line of HTML is a quote of its own, with the heads of its columns", async () => {
  const files = {
    "limits.html":
      "<h1>Limits</h1><table><tr><th>Item</th><th>Upper limit</th></tr><tr><td>columns per table</td><td>1,600</td></tr><tr><td>columns in a result</td><td>1,664</td></tr><tr><td>identifier length</td><td>63 bytes</td></tr></table>",
  };
  const endpoint = await modelEndpoint(
    noting(["columns per table | 1,600"], {
      sentences: [
        statement("It is 1,600 columns.", 1),
        statement("A result has 1,664.", 1),
        statement("An identifier has 63 bytes.", 1),
      ],
    }),
  );
  const report = String(await ask(endpoint, { files }, jobOf("What is the limit of columns per table?")));
  expect(report).toContain("It is 1,600 columns. [1]");
  expect(report).toContain("   > columns per table | 1,600\n\n   Under: Limits, columns Item | Upper limit");
  expect(report).not.toMatch(/1,664|63 bytes/);
  expect(report).toContain("sentences that no quote supports (2)");
});

describe("sources that contradict each other", () => {
  const files = {
    "CHANGES.md":
      "# Changes\n\n## 3.2.0 (2026-04-11)\n\n- The request timeout was raised from 30 to 45 seconds.\n",
    "guide.md": "# Guide\n\nThe request timeout is 30 seconds.\n",
  };
  it("are shown with both sides, and what stands in a heading counts", async () => {
    const endpoint = await modelEndpoint(
      noting(
        ["The request timeout was raised from 30 to 45 seconds.", "The request timeout is 30 seconds."],
        {
          sentences: [statement("Since version 3.2.0 of 2026-04-11 it is 45 seconds.", 1)],
          sections: [
            {
              title: "Versions",
              kind: "table",
              columns: ["Version", "Timeout"],
              items: [statement("3.2.0 | 45 seconds", 1), statement("before | 30 seconds", 2)],
            },
          ],
          disagree: [
            { about: "the timeout", sides: [statement("45 seconds.", 1), statement("30 seconds.", 2)] },
          ],
          missing: ["who changed it"],
        },
      ),
    );
    const report = answered(await ask(endpoint, { files }, jobOf("What is the request timeout?")));
    expect(report).toContain("Since version 3.2.0 of 2026-04-11 it is 45 seconds. [1]");
    expect(report).toContain(
      "## Versions\n\n| Version | Timeout |\n|---|---|\n| 3.2.0 | 45 seconds [1] |\n| before | 30 seconds [2] |",
    );
    expect(report).toContain(
      "## Sources disagree\n\nthe timeout.\n\n- 45 seconds. [1] (CHANGES.md, 3.2.0 (2026-04-11))\n- 30 seconds. [2] (guide.md, Guide)",
    );
    expect(report).toContain("## Not found\n\n- who changed it.");
  });
});

describe("a German question", () => {
  const job = jobOf("Wie lange wartet der Server auf eine Anfrage, und ist das einzustellen?");
  const ENGLISH = "The timeout of the server is 5000 milliseconds, and that is the default.";
  const GERMAN = "Der Server wartet 5000 Millisekunden, und das ist die Vorgabe für alle.";

  it("answered in English is asked for once more, in its language", async () => {
    const endpoint = await modelEndpoint((request) =>
      behaving({
        answer: () =>
          says({ sentences: [statement(request.body.messages.length > 2 ? GERMAN : ENGLISH, 1)] }),
      })(request),
    );
    const report = await ask(endpoint, {}, job);
    expect(report).toContain(GERMAN);
    expect(report).not.toContain(ENGLISH);
  });

  it("answered in English twice says so", async () => {
    const endpoint = await modelEndpoint(
      behaving({ answer: () => says({ sentences: [statement(ENGLISH, 1)] }) }),
    );
    expect(await ask(endpoint, {}, job)).toContain("The answer is not in the language of the question");
  });
});

describe("reading", () => {
  const chapters = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `c${i}.md`,
      `# Chapter ${i}\n\nThe keep-alive timeout of part ${i} is ${1000 + i} ms.\n\n${`Word${i} is about other things. `.repeat(60)}\n\n## Within ${i}\n\nMore on part ${i}.\n`,
    ]),
  );
  const wanting = (request: ChatRequest) => {
    const quotes = [...request.input.matchAll(/The keep-alive timeout of part \d+ is \d+ ms\./g)].map(
      ([quote]) => quote,
    );
    const facts = quotes.flatMap((quote) => {
      const source = sourceWith(request, quote);
      return source > 0 ? [{ claim: quote, source, quote }] : [];
    });
    return says({
      facts,
      answered: [],
      queries: Array.from({ length: 4 }, (_, i) => `word${4 * request.nth + i}`),
    });
  };

  it("opens whole sections, shows what is known and open, and shows no section twice", async () => {
    const endpoint = await modelEndpoint(
      behaving({
        plan: () =>
          says({
            questions: [
              { question: "What is it?", queries: ["keep-alive"] },
              { question: "Why is it?", queries: [] },
            ],
          }),
        notes: (request) =>
          endpoint.count("notes") < 3 ? wanting(request) : says({ facts: [], answered: [1, 2], queries: [] }),
      }),
    );
    await ask(endpoint, { files: chapters });
    const rounds = endpoint.requests.filter(({ step }) => step === "notes").map(({ input }) => input);
    expect(endpoint.requests[0]?.input).toContain(
      "Sources: a folder of documents, 40 documents, languages: en, titles: c0.md",
    );
    // A paragraph and the heading within it, although only one was found.
    expect(rounds[0]).toMatch(
      /The keep-alive timeout of part (\d+) is[\s\S]*Word\1 is about[\s\S]*\(Chapter \1 \/ Within \1\)\nMore on part \1\./,
    );
    expect(rounds[1]).toContain("Still open:\n1. What is it?\n2. Why is it?");
    expect(rounds[1]).toMatch(/Known so far:\n- The keep-alive timeout of part \d+ is/);
    const seen = rounds.flatMap(
      (input) => input.split("[Source 1:")[1]?.match(/The keep-alive timeout of part \d+/g) ?? [],
    );
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThan(8);
  });

  it("by a model that always wants more is ended by a limit, which the report names", async () => {
    const endpoint = await modelEndpoint(
      behaving({ notes: wanting, answer: () => says({ sentences: [statement("It is set.", 1)] }) }),
    );
    const limits = { tokens: 10_000_000, calls: 7, ms: 600_000 };
    const report = await ask(endpoint, { files: chapters, limits });
    expect(report).toContain("The search ended early, at the limit of --model-calls.");
    expect(endpoint.requests).toHaveLength(7);
  });

  it("ends when nothing new comes twice", async () => {
    const endpoint = await modelEndpoint(
      behaving({
        notes: (request) =>
          says({ facts: [], answered: [], queries: [`part ${request.nth}`, `word${request.nth}`] }),
      }),
    );
    expect(await ask(endpoint, { files: chapters })).toContain("Nothing was found");
    expect(endpoint.count("notes")).toBe(2);
  });
});

it("is seen: what it does, what it has used, and what it cites", async () => {
  const endpoint = await modelEndpoint(behaving());
  const news: ResearchUpdate[] = [];
  const setting = { price: { input: 2, output: 10 } };
  const report = await researcherFor(endpoint, setting).research(
    jobOf(),
    new AbortController().signal,
    (one) => news.push(one),
  );
  const steps = news.flatMap(({ progress }) => progress?.step ?? []);
  expect([...new Set(steps)]).toEqual(["plan", "search", "read", "note", "write"]);
  expect(news.flatMap(({ progress }) => progress ?? []).at(-1)).toMatchObject({
    step: "write",
    calls: 4,
    tokens: 4400,
    pages: 2,
  });
  const usage = { calls: 4, input_tokens: 4000, output_tokens: 400, cost_dollars: 0.012 };
  expect(news.at(-1)).toEqual({ usage, sources: [{ title: "http.md", file: "http.md" }] });
  expect(report).toContain("Calls of the model: 4. Tokens in: 4,000, out: 400. Cost: 0.0120 dollars.");
});

it("the length is asked for, and a long report has a table of contents", async () => {
  const endpoint = await modelEndpoint(behaving());
  const short = await ask(endpoint, { length: "short" });
  const long = await ask(endpoint, { length: "long" });
  const asked = endpoint.requests.filter(({ step }) => step === "answer").map(({ body }) => body);
  expect(asked[0]?.messages[0]?.content).toContain("Write the sentences only");
  expect(asked[1]?.messages[0]?.content).toContain("in 1,500 to 3,000 words");
  expect(asked[1]?.max_tokens).toBeGreaterThan(asked[0]?.max_tokens ?? 0);
  expect(long).toContain(
    "?\n\n## Contents\n\n- Quotes\n- Sources\n- What is checked\n- Usage\n\n---\n\nThe timeout is",
  );
  expect(short).not.toContain("## Contents");
});

it("a passage in which the quote does not stand takes no quote of its neighbour's heading", async () => {
  const files = { "a.md": `# One\n\nThe keep-alive timeout is here.\n\n# Two\n\n${TIMEOUT}\n` };
  const endpoint = await modelEndpoint(
    behaving({ notes: (request) => says({ facts: [noteOf(request, TIMEOUT)], queries: [] }) }),
  );
  expect(await ask(endpoint, { files })).toContain(
    "1. `a.md:7`\n\n   > The keep-alive timeout of the server is 5000 milliseconds by default.\n\n   Under: Two",
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { ResearchFailure } from "../../../src/core/researcher.js";
import { Budget, type BudgetLimits } from "../../../src/reader/model/session/model-budget.js";
import {
  answers,
  type ChatRequest,
  hangs,
  modelEndpoint,
  type Play,
  resets,
  says,
} from "../../support/model-endpoint.js";
import { ask, behaving, FILES, jobOf, noteOf, QUESTION, TIMEOUT } from "../../support/model-researcher.js";
import { VirtualClock } from "../../support/virtual-clock.js";

const AMPLE = { tokens: 1_000_000, calls: 50, ms: 600_000 };
const ANSWER = "The timeout is 5000 milliseconds. [1]";

/** What the endpoint may have counted for a request: one token for each byte of it, and the whole output. */
function mostTokens({ raw, body }: ChatRequest): number {
  return Buffer.byteLength(raw) + (body.max_tokens ?? body.max_completion_tokens ?? Number.POSITIVE_INFINITY);
}

/** An endpoint that always counts the most it may, and the sum of it. */
async function greedy(play: (request: ChatRequest) => (usage: object) => Play) {
  let spent = 0;
  const endpoint = await modelEndpoint((request) => {
    const most = mostTokens(request);
    spent += most;
    const completion = request.body.max_tokens ?? 0;
    return play(request)({ prompt_tokens: most - completion, completion_tokens: completion });
  });
  return { endpoint, spent: () => spent };
}

/** A model that always wants more: it never ends its search by itself, and quotes wrongly at times. */
const restless = (request: ChatRequest) => (usage: object) => {
  const options = { usage: usage as { prompt_tokens: number; completion_tokens: number } };
  if (request.step === "plan") return says({ queries: ["timeout", "proxy idle connections"] }, options);
  if (request.step === "answer")
    return says({ sentences: [{ text: "It is 5000 milliseconds.", facts: [1] }] }, options);
  const facts = [noteOf(request, TIMEOUT), { claim: "no", source: 1, quote: `${TIMEOUT} never` }];
  return says({ facts, queries: [`port ${request.nth}`, "server listens"] }, options);
};

describe("the limits are never exceeded", () => {
  it("whatever they are", async () => {
    const limits = fc.record({
      tokens: fc.integer({ min: 1, max: 60_000 }),
      calls: fc.integer({ min: 0, max: 8 }),
      ms: fc.constant(600_000),
    });
    await fc.assert(
      fc.asyncProperty(limits, async (limit) => {
        const { endpoint, spent } = await greedy(restless);
        const output = await ask(endpoint, { limits: limit }).catch((error) => error);
        expect(endpoint.requests.length).toBeLessThanOrEqual(limit.calls);
        expect(spent()).toBeLessThanOrEqual(limit.tokens);
        if (typeof output === "string") expect(output).toContain("## Quotes");
        else expect(output).toBeInstanceOf(ResearchFailure);
        await endpoint.close();
      }),
      { numRuns: 40, seed: 14 },
    );
  });

  it("by tries that fail either", async () => {
    const clock = new VirtualClock();
    const endpoint = await modelEndpoint(() => resets);
    await expect(ask(endpoint, { clock, limits: { ...AMPLE, calls: 2 } })).rejects.toThrow("--model-calls");
    expect(endpoint.requests).toHaveLength(2);
    const refusing = await modelEndpoint(() => answers(400, "no response_format"));
    await expect(ask(refusing, { limits: { ...AMPLE, calls: 2 } })).rejects.toThrow("--model-calls");
    expect(refusing.requests).toHaveLength(2);
  });

  it("by tries that got no answer: what they may have cost counts", async () => {
    const endpoint = await modelEndpoint(() => resets);
    const tokens = 8_000;
    const clock = new VirtualClock();
    await expect(ask(endpoint, { clock, limits: { ...AMPLE, tokens } })).rejects.toThrow("--model-tokens");
    expect(endpoint.requests.length).toBeGreaterThan(0);
    const most = endpoint.requests.reduce((sum, request) => sum + mostTokens(request), 0);
    expect(most).toBeLessThanOrEqual(tokens);
  });

  it("by an estimate from a lower ratio of tokens to bytes than the highest one seen", () => {
    const budget = new Budget(AMPLE, { monotonic: () => 7 });
    expect(budget.estimate(100)).toBe(100);
    for (const tokens of [50, 10, 0]) budget.learn(100, tokens);
    expect([budget.estimate(100), budget.toBytes(75)]).toEqual([75, 100]);
    budget.charge({ tokens: 1, calls: 2, ms: 3 });
    expect(budget.left).toEqual({ tokens: 999_999, calls: 48, ms: 599_997 });
  });

  it("where the endpoint does not say what it counted: then the estimate counts", async () => {
    const behave = behaving({ plan: () => says({ queries: ["timeout"] }, { usage: undefined }) });
    const endpoint = await modelEndpoint(behave);
    // Enough for the estimate of the plan and not for that of anything after it.
    await expect(ask(endpoint, { limits: { ...AMPLE, tokens: 8_000 } })).resolves.toContain("[1]");
    const [plan] = endpoint.requests;
    expect(plan && mostTokens(plan)).toBeLessThan(8_000);
  });
});

describe("with few calls", () => {
  const asked = async (calls: number) => {
    const endpoint = await modelEndpoint(behaving());
    const output = await ask(endpoint, { limits: { ...AMPLE, calls } }).catch(
      (error: Error) => error.message,
    );
    return { output, steps: endpoint.requests.map(({ step }) => step) };
  };

  it("none is spent on what can be done without, and the writing has its own", async () => {
    expect(await asked(4)).toMatchObject({ steps: ["plan", "notes", "answer", "check"] });
    const three = await asked(3);
    expect(three.steps).toEqual(["notes", "answer", "check"]);
    expect(three.output).toContain(`${ANSWER}\n`);
    const two = await asked(2);
    expect(two.steps).toEqual(["notes", "answer"]);
    expect(two.output).toContain(`${ANSWER} [not checked]\n`);
    expect(two.output).toContain("the work ended before those marked [not checked]");
  });

  it("the facts are the answer", async () => {
    const run = await asked(1);
    expect(run.steps).toEqual(["notes"]);
    expect(run.output).toContain(`${ANSWER} [not checked]\n\n## Quotes\n\n1. \`http.md:3\``);
    expect(run.output).toContain("The answer is made of what a model noted");
  });

  it("there is no result where nothing was found yet", async () => {
    expect(await asked(0)).toEqual({
      output: "Nothing was found yet: the limit of --model-calls was reached.",
      steps: [],
    });
    const endpoint = await modelEndpoint(behaving());
    const job = jobOf(QUESTION, { structured_output: true, output_schema: { type: "object" } });
    await expect(ask(endpoint, { limits: { ...AMPLE, calls: 1 } }, job)).rejects.toThrow(
      "The structured result failed: the limit of --model-calls was reached.",
    );
  });
});

describe("time", () => {
  const limits: BudgetLimits = { ...AMPLE, ms: 60_000 };

  it("spent by waits ends the search, and the rest is for the writing", async () => {
    const clock = new VirtualClock();
    const start = clock.monotonic();
    const behave = behaving({
      notes: (request) => {
        const isFirst = endpoint.count("notes") === 1;
        return isFirst
          ? says({ facts: [noteOf(request, TIMEOUT)], queries: ["proxy idle connections", "port"] })
          : answers(429, "{}", { "retry-after": "25" });
      },
    });
    const endpoint = await modelEndpoint(behave);
    const files = { ...FILES, "more.md": "Any port.\n" };
    const report = await ask(endpoint, { clock, limits, files });
    expect(report).toContain(ANSWER);
    expect(report).toContain("The search ended early, at the limit of --model-time.");
    expect(endpoint.count("notes")).toBe(3);
    expect(clock.monotonic() - start).toBeLessThanOrEqual(45_000);
  });

  it("a Retry-After beyond the limit is not waited for", async () => {
    const clock = new VirtualClock();
    const start = clock.monotonic();
    const endpoint = await modelEndpoint(() => answers(429, "{}", { "retry-after": "3600" }));
    await expect(ask(endpoint, { clock, limits })).rejects.toThrow("the limit of --model-time was reached");
    expect(clock.monotonic()).toBe(start);
  });

  it("ends a stream that does not, and the facts are the answer", async () => {
    let skippedMs = 0;
    const monotonic = () => systemClock.monotonic() + skippedMs;
    const clock = {
      now: systemClock.now,
      monotonic,
      async sleep(ms: number, signal?: AbortSignal) {
        for (const end = monotonic() + ms; monotonic() < end; ) await systemClock.sleep(10, signal);
      },
    };
    const endpoint = await modelEndpoint(
      behaving({
        answer: () => {
          skippedMs = AMPLE.ms;
          return hangs;
        },
      }),
    );
    expect(await ask(endpoint, { clock, limits: AMPLE })).toContain(ANSWER);
    await endpoint.requests.at(-1)?.closed;
  });
});

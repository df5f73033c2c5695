import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { ResearchFailure } from "../../../src/core/researcher.js";
import { leftovers } from "../../support/leftovers.js";
import {
  answers,
  type ChatRequest,
  modelEndpoint,
  type Play,
  resets,
  says,
} from "../../support/model-endpoint.js";
import { ask, behaving, FILES, jobOf, MODEL_KEY, noteOf, TIMEOUT } from "../../support/model-researcher.js";

/** What a test of a wait uses: no time passes, and the waits are noted. */
function impatient() {
  const waits: number[] = [];
  const sleep = (ms: number, signal?: AbortSignal) => {
    // The limit of a whole call is no wait.
    if (ms > 120_000) return systemClock.sleep(ms, signal);
    waits.push(ms);
    return Promise.resolve();
  };
  return { waits, clock: { ...systemClock, sleep } };
}

/** Plays `plays` first, one for each request, and behaves from then on. */
const first = (...plays: Play[]) => {
  const behave = behaving();
  return (request: ChatRequest) => plays[request.nth - 1] ?? behave(request);
};

const ANSWER = "The timeout is 5000 milliseconds. [1]";
const PLAN = { queries: ["keep-alive timeout"] };

it("a reply is understood with thoughts before it, in a code fence, with a slip", async () => {
  const json = '```json\n{"queries": ["timeout",],}\n```';
  const endpoint = await modelEndpoint(
    first(says(`<think>{"queries": "none"} hm</think>\nHere:\n${json}\nDone.`)),
  );
  expect(await ask(endpoint)).toContain(ANSWER);
  expect(endpoint.count("plan")).toBe(1);
  expect(endpoint.requests).toHaveLength(4);
});

it("the URL may name the whole path", async () => {
  const endpoint = await modelEndpoint(behaving());
  expect(await ask({ url: `${endpoint.url}/chat/completions/` })).toContain(ANSWER);
  expect(endpoint.requests[0]?.url).toBe("/v1/chat/completions");
});

describe("what an endpoint does not take is left out:", () => {
  const refusal = (message: string) => answers(400, { error: { message } });
  const complaint = (request: ChatRequest): string | undefined => {
    const { body } = request;
    if (body.response_format !== undefined)
      return `response_format ${body.response_format.type} is not supported`;
    if (body.stream_options !== undefined) return "Unknown field: stream_options";
    if (body.max_tokens !== undefined) return "Use max_completion_tokens instead of max_tokens";
    return body.temperature === undefined ? undefined : "temperature is not supported with this model";
  };

  it("one after the other, once for all requests", async () => {
    const behave = behaving();
    const endpoint = await modelEndpoint((request) => {
      const wrong = complaint(request);
      return wrong === undefined ? behave(request) : refusal(wrong);
    });
    expect(await ask(endpoint)).toContain(ANSWER);
    // Five refusals for the first request, none for the others.
    expect(endpoint.requests.map(({ step }) => step)).toEqual([
      ...Array(6).fill("plan"),
      "notes",
      "answer",
      "check",
    ]);
    expect(endpoint.requests[0]?.body.response_format?.type).toBe("json_schema");
    expect(endpoint.requests[1]?.body.response_format?.type).toBe("json_object");
    expect(endpoint.requests.at(-1)?.body.max_completion_tokens).toBeGreaterThan(0);
  });
});

describe("a reply that is not as asked", () => {
  it("is asked for once more, with what is wrong", async () => {
    const endpoint = await modelEndpoint(first(says("I would search for timeouts.")));
    expect(await ask(endpoint)).toContain(ANSWER);
    const { messages } = endpoint.requests[1]?.body ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(messages.at(-1)?.content).toContain("it is not JSON");
  });

  it("cut off at the limit of the output is asked for once more, shorter", async () => {
    const endpoint = await modelEndpoint(first(says('{"queries": ["a', { finish: "length" })));
    expect(await ask(endpoint)).toContain(ANSWER);
    expect(endpoint.requests[1]?.body.messages.at(-1)?.content).toContain("limit of the output");
  });

  const refusal = { message: { role: "assistant", content: null, refusal: "I may not." } };
  it.each<[string, Play, string]>([
    ["nonsense", says("blah"), ' and said "blah"'],
    ["a refusal", says("<think>no</think>I can't\nhelp with that."), ` and said "I can't help with that."`],
    [
      "a refusal by a field",
      answers(200, { choices: [{ ...refusal, finish_reason: "stop" }] }),
      ' and said "I may not."',
    ],
    ["thinking without an end", says("<think>hm, hm"), ""],
    ["nothing", says(""), ""],
  ])(
    "%s a second time is no plan; instead of notes it fails, and names the endpoint and what was said",
    async (_name, play, said) => {
      const endpoint = await modelEndpoint(() => play);
      await expect(ask(endpoint)).rejects.toThrow(
        `The model endpoint ${new URL(endpoint.url).origin} did not reply as asked: it is not JSON${said}.`,
      );
      expect(new Set(endpoint.requests.map(({ step }) => step))).toEqual(new Set(["plan", "notes"]));
      expect(endpoint.count("plan")).toBe(2);
    },
  );

  it("as an answer leaves the facts as the answer", async () => {
    const endpoint = await modelEndpoint(behaving({ answer: () => says("no") }));
    expect(await ask(endpoint)).toContain("The answer is made of what a model noted");
  });

  it.each([
    [
      "text",
      "data: {}\n\n",
      `data: ${JSON.stringify({ choices: [{ delta: { content: "word " } }] })}\n\n`.repeat(100),
    ],
    [
      "a line without an end",
      `data: ${JSON.stringify({ choices: [{ delta: { content: "{" } }] })}\n\n`,
      "x".repeat(65_536),
    ],
    ["a line without an end and without text", "data: ", "x".repeat(65_536)],
  ])("that goes on beyond the limit with %s is not read on", async (_name, begin, more) => {
    let bytes = 0;
    const endless: Play = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(begin);
      const goOn = () => {
        if (response.destroyed) return;
        bytes += more.length;
        if (response.write(more)) setImmediate(goOn);
        else response.once("drain", goOn);
      };
      goOn();
    };
    const endpoint = await modelEndpoint((request) =>
      request.step === "plan" ? behaving()(request) : endless,
    );
    const begun = process.cpuUsage();
    await expect(ask(endpoint)).rejects.toThrow(
      /The model endpoint .* (?:did not reply as asked|answered with no chat)/,
    );
    await Promise.all(endpoint.requests.map(({ closed }) => closed));
    // What is read is limited, a second time included; searching it again and again would take minutes.
    expect(bytes).toBeLessThan(60_000_000);
    expect(process.cpuUsage(begun).user).toBeLessThan(20_000_000);
  });
});

describe("it is tried again", () => {
  it("after a cut stream, a reset, and a 503", async () => {
    const { waits, clock } = impatient();
    const endpoint = await modelEndpoint(first(says(PLAN, { cutAt: 10 }), resets, answers(503, "busy")));
    expect(await ask(endpoint, { clock })).toContain(ANSWER);
    expect(endpoint.count("plan")).toBe(4);
    expect(waits).toEqual([1_000, 2_000, 4_000]);
  });

  it("after a 429, never sooner than Retry-After says, and a long wait is announced", async () => {
    const { waits, clock } = impatient();
    const notices: string[] = [];
    const limited = (headers: Record<string, string>) =>
      answers(429, { error: { message: "slow down" } }, headers);
    const date = new Date(Date.now() + 60_000).toUTCString();
    const endpoint = await modelEndpoint(
      first(limited({ "retry-after": "20" }), limited({ "retry-after": date }), limited({})),
    );
    expect(await ask(endpoint, { clock, notices })).toContain(ANSWER);
    expect(waits[0]).toBe(20_000);
    expect(waits[1]).toBeGreaterThan(50_000);
    expect(waits[2]).toBe(4_000);
    expect(notices[0]).toMatch(/is busy \(HTTP 429: slow down\); trying again at \d{4}-/);
  });

  it("and given up after a few tries", async () => {
    const { clock } = impatient();
    const endpoint = await modelEndpoint(() => answers(500, "{}"));
    await expect(ask(endpoint, { clock })).rejects.toThrow(
      /The model endpoint http:\S+ is busy \(HTTP 500\)/,
    );
    expect(endpoint.requests).toHaveLength(6);
    const cut = await modelEndpoint(() => says(PLAN, { cutAt: 3 }));
    await expect(ask(cut, { clock })).rejects.toThrow("broke off its reply");
    expect(cut.requests).toHaveLength(3);
    await cut.close();
    await expect(ask(cut, { clock })).rejects.toThrow(/could not be reached: .*ECONNREFUSED/);
  });
});

describe("it fails at once, and names the endpoint and the reason:", () => {
  it("a key that is refused", async () => {
    const endpoint = await modelEndpoint(() => answers(401, { error: { message: "wrong: sk-mo…cdef" } }));
    const named = `The model endpoint ${new URL(endpoint.url).origin} refuses the key (HTTP 401).`;
    await expect(ask(endpoint)).rejects.toThrow(named);
    expect(endpoint.requests).toHaveLength(1);
  });

  it("a redirect, which is not followed: the key goes to no other host", async () => {
    const seen: unknown[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers);
      response.end();
    }).listen(0, "127.0.0.1");
    leftovers.add(() => void other.close());
    await new Promise((resolve) => other.once("listening", resolve));
    const host = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const endpoint = await modelEndpoint(() =>
      answers(307, "", { location: `http://${host}/v1/chat/completions` }),
    );
    const failure: Error = await ask(endpoint).then(
      () => new Error("no failure"),
      (error) => error,
    );
    expect(failure.message).toContain(`redirects to ${host}`);
    expect(failure.message).not.toContain(MODEL_KEY);
    expect(seen).toEqual([]);
  });
});

describe("a context that is too short", () => {
  const long = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `p${i}.md`,
      `Part ${i}: the keep-alive timeout. ${"It is a timeout. ".repeat(80)}\n`,
    ]),
  );

  it("for what is sent is met with less", async () => {
    const behave = behaving({ notes: () => says({ facts: [], queries: [] }) });
    const endpoint = await modelEndpoint((request) =>
      request.raw.length > 9_000
        ? answers(400, { error: { message: "This model's maximum context length is 2048 tokens" } })
        : behave(request),
    );
    expect(await ask(endpoint, { files: long })).toContain("Nothing was found");
    const sizes = endpoint.requests.filter(({ step }) => step === "notes").map(({ raw }) => raw.length);
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(sizes.at(-1)).toBeLessThan(9_000);
  });

  it.each(["plan", "notes", "result"])("for anything fails in the step `%s`", async (step) => {
    const behave = behaving();
    const endpoint = await modelEndpoint((request) =>
      request.step === step
        ? answers(400, { error: { message: "context length exceeded" } })
        : behave(request),
    );
    const job = jobOf(undefined, { structured_output: true, output_schema: { type: "object" } });
    const failure = ask(endpoint, { files: { ...long, ...FILES } }, job);
    await expect(failure).rejects.toThrow(/^The context of the model is too short for/);
    await expect(failure).rejects.toBeInstanceOf(ResearchFailure);
  });

  it("that is cut without a word is noticed, and sent less from then on", async () => {
    const notices: string[] = [];
    const files = { ...long, "http.md": `${TIMEOUT}\n` };
    const endpoint = await modelEndpoint(
      behaving({
        notes: (request) => {
          const queries = endpoint.count("notes") === 1 ? ["part", "timeout"] : [];
          const facts = request.input.includes(TIMEOUT) ? [noteOf(request, TIMEOUT)] : [];
          return says({ facts, queries }, { usage: { prompt_tokens: 500, completion_tokens: 9 } });
        },
      }),
    );
    const report = await ask(endpoint, { files, notices });
    expect(report).toContain(ANSWER);
    expect(report).toContain("the endpoint seems to have cut off what it was sent");
    expect(notices).toEqual([expect.stringContaining("give the model a longer context")]);
    const [before = 0, after = 0] = endpoint.requests
      .filter(({ step }) => step === "notes")
      .map(({ raw }) => raw.length);
    expect(after).toBeLessThan(before * 0.7);
  });
});

import { describe, expect, it } from "vitest";
import { Completion, classifyModelAnswer } from "../../../../src/reader/model/endpoint/model-answer.js";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const data = (...events: unknown[]) =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
const content = (text: string) => ({ choices: [{ delta: { content: text } }] });
const finish = (reason: string) => ({ choices: [{ delta: {}, finish_reason: reason }] });

/** What an answer of these pieces is read as. */
function read(
  pieces: string | string[],
  more: { status?: number; failure?: string; maxTokens?: number } = {},
) {
  const { status = 200, failure, maxTokens = 100 } = more;
  const completion = new Completion(maxTokens);
  for (const piece of [pieces].flat()) completion.push(Buffer.from(piece));
  completion.end();
  const hide = (text: string) => text.replaceAll("sk-secret", "[key]");
  return classifyModelAnswer({ status, headers: {}, completion, failure }, "m", NOW, hide);
}

describe("a reply is", () => {
  it.each<[string, string | string[], object]>([
    ["a stream", data(content("a"), content("b"), finish("stop"), "[DONE]"), { text: "ab", finish: "stop" }],
    ["one without its mark at the end", data(content("a"), finish("stop")), { text: "a", finish: "stop" }],
    ["one without a reason at its end", data(content("a"), "[DONE]"), { text: "a", finish: "stop" }],
    ["one whose last line has no end", `${data(content("a"))}data: [DONE]`, { text: "a", finish: "stop" }],
    ["cut at the limit", data(content("a"), finish("length")), { text: "a", finish: "length" }],
    ["without what comes behind its end", data(content("a"), "[DONE]", content("b")), { text: "a" }],
    [
      "with other lines between",
      `: ping\r\nevent: x\r\n${data(content("a"))}id: 7\n${data("[DONE]")}`,
      { text: "a" },
    ],
    [
      "in pieces",
      ["dat", 'a: {"choices":[{"delta":{"con', 'tent":"a"}}]}\n', "\ndata:[DONE]\n"],
      { text: "a" },
    ],
    [
      "a whole object",
      JSON.stringify({ choices: [{ message: { content: "a" }, finish_reason: "stop" }] }),
      { text: "a" },
    ],
    ["without the key", data(content("a sk-"), content("secret"), "[DONE]"), { text: "a [key]" }],
    ["empty", data(finish("stop")), { text: "", finish: "stop" }],
    ["with lines that end in a return", data(content("a"), "[DONE]").replaceAll("\n", "\r\n"), { text: "a" }],
    ["of nothing but its own data", `x ${data(content("b"))}${data(content("a"), "[DONE]")}`, { text: "a" }],
  ])("%s", (_name, pieces, expected) => {
    const reply = read(pieces);
    expect(reply).toMatchObject(expected);
    expect(reply).not.toHaveProperty("kind");
  });

  it("whole where a character comes in two pieces", () => {
    const bytes = Buffer.from(data(content("naïve"), "[DONE]"));
    const cut = bytes.indexOf("ï") + 1;
    const completion = new Completion(100);
    for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) completion.push(piece);
    completion.end();
    expect(completion.text).toBe("naïve");
  });

  it.each<[string, object, object]>([
    ["both counts", { prompt_tokens: 7, completion_tokens: 3 }, { promptTokens: 7, outputTokens: 3 }],
    [
      "what was thought, in the total only",
      { prompt_tokens: 7, completion_tokens: 3, total_tokens: 15 },
      { promptTokens: 7, outputTokens: 8 },
    ],
    ["the total alone", { total_tokens: 15 }, { promptTokens: 0, outputTokens: 15 }],
    [
      "what is not valid",
      { prompt_tokens: -7, completion_tokens: "3", total_tokens: 2 },
      { promptTokens: 0, outputTokens: 2 },
    ],
  ])("counted by %s", (_name, usage, expected) => {
    expect(read(data(content("a"), { usage }, "[DONE]"))).toMatchObject(expected);
  });

  it("not counted where the endpoint counts nothing", () => {
    expect(read(data(content("a"), { usage: { prompt_tokens: 0 } }, "[DONE]"))).toEqual({
      text: "a",
      finish: "stop",
    });
  });
});

describe("beyond its limit is", () => {
  const isOver = (maxTokens: number, ...events: unknown[]) => {
    const completion = new Completion(maxTokens);
    completion.push(Buffer.from(data(...events)));
    return completion.isOverLimit;
  };
  it.each<[string, boolean, number, unknown[]]>([
    ["a piece more than tokens", true, 2, Array(3).fill(content("a"))],
    ["as many are not", false, 3, Array(3).fill(content("a"))],
    ["a thought more", true, 2, Array(3).fill({ choices: [{ delta: { reasoning_content: "hm" } }] })],
    ["events without anything are not", false, 2, Array(9).fill({ choices: [{ delta: { content: "" } }] })],
    ["a longer text than tokens hold", true, 2, [content("x".repeat(17))]],
    ["one that they hold is not", false, 2, [content("x".repeat(16))]],
    ["more than its envelopes take", true, 1, Array(300).fill({ padding: "x".repeat(1_000) })],
    ["less is not", false, 100, Array(300).fill({ padding: "x".repeat(1_000) })],
  ])("%s", (_name, expected, maxTokens, events) => {
    expect(isOver(maxTokens, ...events)).toBe(expected);
  });

  it("what is read of it is a reply that was cut", () => {
    expect(read(data(content("x".repeat(9))), { maxTokens: 1 })).toMatchObject({ finish: "length" });
  });
});

describe("no reply is", () => {
  const broken = (why: string) => ({ kind: "cut", message: `broke off its reply (${why})` });
  it.each<[string, string, string | undefined, object]>([
    [
      "a stream that says each time that it has not ended, and breaks off",
      data({ choices: [{ delta: { content: "a" }, finish_reason: null }] }),
      undefined,
      broken("the stream ended before the reply did"),
    ],
    [
      "a stream that ends early",
      data(content("a")),
      undefined,
      broken("the stream ended before the reply did"),
    ],
    ["one that breaks", data(content("a")), "reset", broken("reset")],
    ["one that breaks before its first text", "", "reset", broken("reset")],
    [
      "an error within it",
      data(content("a"), { error: { message: "no\n sk-secret" } }),
      undefined,
      broken("no [key]"),
    ],
    ["an error without a sentence", data({ error: { code: 7 } }), undefined, broken("an error")],
    [
      "a context too short",
      data({ error: "maximum context is 9" }),
      undefined,
      { kind: "too-long", message: "maximum context is 9" },
    ],
    [
      "a page",
      "<html></html>",
      undefined,
      { kind: "refused", message: "sent an answer that is not a chat completion" },
    ],
    [
      "an empty answer",
      "",
      undefined,
      { kind: "refused", message: "sent an answer that is not a chat completion" },
    ],
    [
      "no error",
      data({ error: null }),
      undefined,
      { kind: "refused", message: "sent an answer that is not a chat completion" },
    ],
  ])("%s", (_name, pieces, failure, expected) => {
    expect(read(pieces, failure === undefined ? {} : { failure })).toEqual(expected);
  });

  it.each<[number, unknown, string, string]>([
    [300, {}, "refused", "redirects, and the key is sent nowhere else (HTTP 300)"],
    [301, {}, "refused", "redirects, and the key is sent nowhere else (HTTP 301)"],
    [401, { error: { message: "sk-se…" } }, "refused", "refuses the key (HTTP 401)"],
    [403, {}, "refused", "refuses the key (HTTP 403)"],
    [404, {}, "refused", 'does not know the model "m" (HTTP 404)'],
    [
      400,
      { error: { message: "The model x does not exist" } },
      "refused",
      'does not know the model "m" (HTTP 400: The model x does not exist)',
    ],
    [
      400,
      { error: { code: "model_not_found" } },
      "refused",
      'does not know the model "m" (HTTP 400: model_not_found)',
    ],
    [
      429,
      { error: { type: "insufficient_quota" } },
      "refused",
      "has no credit left (HTTP 429: insufficient_quota)",
    ],
    [413, {}, "too-long", "HTTP 413"],
    [400, { detail: "context_length exceeded" }, "too-long", "HTTP 400: context_length exceeded"],
    [500, { error: "too long" }, "busy", "is busy (HTTP 500: too long)"],
    [429, { message: "slow down, sk-secret" }, "busy", "is busy (HTTP 429: slow down, [key])"],
    [408, {}, "busy", "is busy (HTTP 408)"],
    [503, "<html>", "busy", "is busy (HTTP 503)"],
    [400, { error: { message: "no temperature" } }, "unsupported", "answered HTTP 400: no temperature"],
    [422, { detail: "no credit" }, "unsupported", "answered HTTP 422: no credit"],
    [418, {}, "refused", "answered HTTP 418"],
  ])("HTTP %i with %j", (status, body, kind, message) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    expect(read(text, { status })).toMatchObject({ kind, message });
  });

  it.each<[string | undefined, number | undefined]>([
    ["20", 20_000],
    ["0", 0],
    [undefined, undefined],
  ])("busy for what Retry-After says: %s", (value, afterMs) => {
    const completion = new Completion(1);
    const answer = { status: 503, headers: { "retry-after": value }, completion, failure: undefined };
    expect(classifyModelAnswer(answer, "m", NOW, String)).toEqual({
      kind: "busy",
      message: "is busy (HTTP 503)",
      afterMs,
    });
  });

  it("a redirect, which names the host", () => {
    const headers = { location: "https://other.example:8443/v1?key=1" };
    const answer = { status: 308, headers, completion: new Completion(1), failure: undefined };
    expect(classifyModelAnswer(answer, "m", NOW, String)).toMatchObject({
      message: "redirects to other.example:8443, and the key is sent nowhere else (HTTP 308)",
    });
  });
});

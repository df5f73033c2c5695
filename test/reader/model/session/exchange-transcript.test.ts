import { expect, it } from "vitest";
import { Transcript } from "../../../../src/reader/model/session/exchange-transcript.js";

const reply = { text: "{}", finish: "stop", outputTokens: 7 };

it("gives out what a hash cost and the reply, once; an open request counts as estimated", () => {
  const transcript = new Transcript([
    { kind: "sent", hash: "a", estimate: 100 },
    { kind: "ended", hash: "a", tokens: 0, ms: 5 },
    { kind: "sent", hash: "a", estimate: 100 },
    { kind: "ended", hash: "a", tokens: 40, ms: 7, reply },
    { kind: "sent", hash: "b", estimate: 60 },
    { kind: "sent", hash: "c", estimate: 9 },
  ]);
  expect(transcript.take("a")).toEqual({ cost: { tokens: 40, calls: 2, ms: 12, output: 7 }, reply });
  // Without a reply all that is left counts.
  expect(transcript.take("b")).toEqual({
    cost: { tokens: 69, calls: 2, ms: 0, output: 0 },
    reply: undefined,
  });
  expect(transcript.take("c")).toEqual({ cost: { tokens: 0, calls: 0, ms: 0, output: 0 }, reply: undefined });
});

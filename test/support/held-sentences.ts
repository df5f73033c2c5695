import type { Labelled } from "../reader/supporting/set/sentences.js";
import { type ChatRequest, type Play, says } from "./model-endpoint.js";

/** A sentence of a request for verdicts, with its number. */
export interface AskedSentence {
  sentence: number;
  text: string;
}

/** What a model replies of one sentence. */
export interface Reply {
  sentence: number;
  verdict: string;
  quote: string;
}

/** The sentences of a request, and the text of its passages. */
export function partsOf({ input }: Pick<ChatRequest, "input">): {
  passages: string;
  sentences: AskedSentence[];
} {
  const [passages = "", list = ""] = input.split("\n\nSentences:\n\n");
  const sentences = [...list.matchAll(/^(\d+)\. (.*)$/gm)].map(([, number, text = ""]) => ({
    sentence: Number(number),
    text: text.replace(/ \(under: [^()]*\)$/, ""),
  }));
  return { passages, sentences };
}

const plain = (text: string) => text.replace(/[^\p{L}\p{N}%]+/gu, " ").trim();

/** A tokenizer of some kind: four characters are a token. */
const usageOf = (raw: string, reply: unknown) => ({
  prompt_tokens: Math.ceil(Buffer.byteLength(raw) / 4),
  completion_tokens: Math.ceil(JSON.stringify(reply).length / 4),
});

/** Answers each sentence of a request as `reply` says. */
export function holding(
  reply: (
    asked: AskedSentence,
    parts: { passages: string; sentences: AskedSentence[] },
  ) => Omit<Reply, "sentence">,
): (request: ChatRequest) => Play {
  return (request) => {
    const parts = partsOf(request);
    const held = parts.sentences.map((asked) => ({ sentence: asked.sentence, ...reply(asked, parts) }));
    return says({ held }, { usage: usageOf(request.raw, { held }) });
  };
}

/** A model that reads: it answers as the set says if the quote is in view, and knows what stands in the passages word for word. */
export function honest(set: readonly Labelled[]): (request: ChatRequest) => Play {
  return holding(({ text }, { passages }) => {
    const entry = set.find((one) => one.text === text);
    if (entry) {
      const isInView = entry.quote.split(" […] ").every((part) => plain(passages).includes(plain(part)));
      return isInView ? { verdict: entry.verdict, quote: entry.quote } : { verdict: "not_stated", quote: "" };
    }
    return plain(passages).includes(plain(text))
      ? { verdict: "supported", quote: text }
      : { verdict: "not_stated", quote: "" };
  });
}

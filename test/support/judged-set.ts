import { systemClock } from "../../src/core/clock.js";
import { Connections } from "../../src/core/http/origin-connections.js";
import type { ReadCitation } from "../../src/reader/checking/judge-claims.js";
import { judgeSentence } from "../../src/reader/checking/judge-sentence.js";
import { buildPageContent } from "../../src/reader/checking/report-checker.js";
import { ChatEndpoint } from "../../src/reader/model/endpoint/chat-endpoint.js";
import { splitDocument } from "../../src/reader/parsing/documents/split-document.js";
import {
  askForSupport,
  type ModelFindings,
  type SupportOptions,
} from "../../src/reader/supporting/ask-for-support.js";
import { PAGES } from "../reader/supporting/set/pages.js";
import { type Labelled, SENTENCES } from "../reader/supporting/set/sentences.js";
import { type ChatRequest, type ModelEndpoint, modelEndpoint, type Play } from "./model-endpoint.js";

let reading: Promise<ReadCitation[]> | undefined;

/** The sentences of the set as a check hands them over, each with the page of its passage; read once. */
function readSet(): Promise<ReadCitation[]> {
  reading ??= readSentences(SENTENCES);
  return reading;
}

async function readSentences(
  sentences: readonly Pick<Labelled, "text" | "pages">[],
): Promise<ReadCitation[]> {
  const pages = new Map<string, ReturnType<typeof buildPageContent>>();
  for (const [name, html] of Object.entries(PAGES)) {
    const bytes = new TextEncoder().encode(html);
    const read = await splitDocument({
      ...{ name, bytes, wantsText: true },
      page: { type: "text/html", charset: "utf-8" },
    });
    if ("reason" in read) throw new Error(read.reason);
    pages.set(name, buildPageContent(read));
  }
  return Promise.all(
    sentences.map(async ({ text, pages: names }) => {
      const contents = names.flatMap((name) => pages.get(name) ?? []);
      const cited = contents.map((content) => ({ entry: { state: "read" as const, reason: null }, content }));
      const { page = 0, ...judged } = await judgeSentence(text, cited, undefined);
      const [content] = contents.slice(page);
      if (!content) throw new Error(`no page of ${text}`);
      const citation = { claim: text, field: null, urls: [...names], ...judged, support: null, quote: null };
      return { citation, over: "", content };
    }),
  );
}

/** Numbers in [0, 1) that are the same for the same seed. */
export function seededNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 2 ** 31;
  };
}

/** Asks a scripted model about the sentences of the set, or about others. */
export async function judgeSet(
  script: (request: ChatRequest) => Play,
  options: Partial<SupportOptions> = {},
  sentences?: readonly Pick<Labelled, "text" | "pages">[],
): Promise<ModelFindings & { endpoint: ModelEndpoint; plans: object[] }> {
  const endpoint = await modelEndpoint(script);
  const url = new URL(endpoint.url);
  const connections = new Connections(url, undefined, 5_000);
  const citations = await (sentences ? readSentences(sentences) : readSet());
  const plans: object[] = [];
  const findings = await askForSupport(citations, undefined, {
    endpoint: new ChatEndpoint({ url, model: "m", apiKey: undefined, connections, clock: systemClock }),
    limits: { tokens: 1e6, calls: 100, ms: 1e6 },
    ...{
      clock: systemClock,
      random: seededNumbers(1),
      reliability: { replies: 0, failures: 0, isDropped: false },
    },
    notice() {},
    onPlan: async (plan) => void plans.push(plan),
    signal: new AbortController().signal,
    ...options,
  });
  await connections.close();
  return { ...findings, endpoint, plans };
}

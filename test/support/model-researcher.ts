import { systemClock } from "../../src/core/clock.js";
import { Connections } from "../../src/core/http/origin-connections.js";
import type { ResearchJob } from "../../src/core/researcher.js";
import {
  createModelResearcher,
  type ModelResearcherOptions,
} from "../../src/reader/writing/model-researcher.js";
import { leftovers } from "./leftovers.js";
import { memorySources } from "./memory-sources.js";
import {
  type ChatRequest,
  type ModelEndpoint,
  type Play,
  says,
  sourceWith,
  verdicts,
} from "./model-endpoint.js";
import { noExchanges } from "./small-web.js";

export const MODEL_KEY = "sk-model-0123456789abcdef";
export const QUESTION = "What is the keep-alive timeout of the server?";
export const FILES = {
  "http.md":
    "# Server\n\nThe keep-alive timeout of the server is 5000 milliseconds by default. It does not\napply to sockets that were never used.\n\nThe server listens on port 8080.\n",
  "proxy.md":
    "The proxy closes idle connections after 30 seconds, so a keep-alive timeout above that is useless.\n",
};
/** A sentence of http.md, and one that goes over the end of a line. */
export const TIMEOUT = "The keep-alive timeout of the server is 5000 milliseconds by default.";
export const EXCEPTION = "It does not\napply to sockets that were never used.";

/** What each step replies, unless a test says otherwise: one fact, one sentence. */
export function behaving(steps: Partial<Record<ChatRequest["step"], (request: ChatRequest) => Play>> = {}) {
  return (request: ChatRequest): Play => {
    const reply = steps[request.step];
    if (reply !== undefined) return reply(request);
    switch (request.step) {
      case "plan":
        return says({ queries: ["keep-alive timeout default"] });
      case "notes":
        return says({ facts: [noteOf(request, TIMEOUT)], queries: [] });
      case "answer":
        return says({ sentences: [{ text: "The timeout is 5000 milliseconds.", facts: [1] }] });
      case "check":
        return verdicts(request);
      default:
        return says({ timeout: 5000 });
    }
  };
}

/** A note with a quote, whose source is the one that holds `anchor` (by default the first line of the quote). */
export function noteOf(request: ChatRequest, quote: string, anchor = quote.split("\n")[0] ?? "") {
  return { claim: "The timeout is 5000 milliseconds.", source: sourceWith(request, anchor) || 1, quote };
}

export interface Setting extends Partial<Omit<ModelResearcherOptions, "endpoint">> {
  files?: Record<string, string>;
  apiKey?: string;
  notices?: string[];
  logged?: string[];
}

/** A researcher that asks `endpoint`; closed with the test file. */
export function researcherFor(endpoint: Pick<ModelEndpoint, "url">, setting: Setting = {}) {
  const { files = FILES, apiKey = MODEL_KEY, notices = [], logged = [], ...options } = setting;
  const url = new URL(endpoint.url);
  const researcher = createModelResearcher({
    endpoint: {
      url,
      model: "test-model",
      apiKey,
      connections: new Connections(url, undefined, 5_000),
    },
    limits: { tokens: 1_000_000, calls: 50, ms: 600_000 },
    length: "normal",
    sources: memorySources(files),
    exchanges: noExchanges,
    clock: systemClock,
    notice: (line) => notices.push(line),
    log: (line) => logged.push(line),
    ...options,
  });
  leftovers.add(() => void researcher.close());
  return researcher;
}

export function jobOf(prompt = QUESTION, more: Partial<ResearchJob> = {}): ResearchJob {
  return { request_id: "r-1", prompt, structured_output: false, ...more };
}

/** The output of one question. */
export function ask(
  endpoint: Pick<ModelEndpoint, "url">,
  setting: Setting = {},
  job: ResearchJob = jobOf(),
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  return researcherFor(endpoint, setting).research(job, signal);
}

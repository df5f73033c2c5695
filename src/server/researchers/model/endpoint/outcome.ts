import { shortLine } from "../../../../text/phrases.js";
import { parsed } from "../json.js";
import { type Completion, errorOf, type Usage } from "./completion.js";
import type { ResponseHeaders } from "./http.js";

/** What became of one request to the endpoint. */
export type Outcome =
  /** The model replied. Without `usage` the endpoint did not say what it counted. */
  | { kind: "reply"; text: string; finish: string; usage: Usage | undefined }
  /** The stream ended before the reply did; it may have cost as much as a whole one. */
  | { kind: "cut"; message: string }
  /** Nothing was done, and a later try may succeed. `afterMs` is what the endpoint asks to wait. */
  | { kind: "busy"; message: string; afterMs: number | undefined }
  /** No answer came. */
  | { kind: "unreachable"; message: string }
  /** A parameter is not known to the endpoint. */
  | { kind: "unsupported"; message: string }
  /** The request is longer than what the model takes. */
  | { kind: "too-long"; message: string }
  /** It will not be otherwise later. `message` is a phrase for the client, after the name of the endpoint. */
  | { kind: "refused"; message: string };

/** An answer that has come as far as it will. */
export interface EndpointAnswer {
  status: number;
  headers: ResponseHeaders;
  /** Of an answer that is no event stream. */
  body: string;
  completion: Completion;
  /** Whether it came to its end. */
  isWhole: boolean;
  message: string;
}

const TOO_LONG =
  /context[ _-]?(?:length|window|size)|too (?:long|many tokens)|maximum context|exceeds? the .*(?:context|token)/i;
const UNKNOWN_MODEL =
  /model.{0,80}(?:not|n't|un)[ _-]?(?:found|exist|known|available|supported)|model_not_found|(?:unknown|no such) model/i;
const NO_CREDIT = /insufficient_quota|billing|credit/i;
/** How much of an endpoint's sentence is passed on, in characters. */
const SHOWN = 200;

/** Reads an answer of the endpoint. `now` is epoch ms, for a `Retry-After` that is a date. */
export function classify(answer: EndpointAnswer, model: string, now: number): Outcome {
  const { status, headers, body, completion } = answer;
  if (status === 200) return ofCompletion(answer);
  const said = errorOf(parsed(body)) ?? completion.error ?? "";
  const detail = said === "" ? `HTTP ${status}` : `HTTP ${status}: ${shortLine(said, SHOWN)}`;
  if (status >= 300 && status < 400) {
    const target = hostOf(headerOf(headers, "location"));
    return { kind: "refused", message: `redirects${target}, and the key is sent nowhere else (${detail})` };
  }
  // Not its own sentence: some endpoints quote the beginning of the key in it.
  if (status === 401 || status === 403)
    return { kind: "refused", message: `refuses the key (HTTP ${status})` };
  if (status === 404 || UNKNOWN_MODEL.test(said) || UNKNOWN_MODEL.test(body.slice(0, 2_000))) {
    return { kind: "refused", message: `does not know the model ${JSON.stringify(model)} (${detail})` };
  }
  if (status === 429 && NO_CREDIT.test(body))
    return { kind: "refused", message: `has no credit left (${detail})` };
  if (status === 413 || (status < 500 && TOO_LONG.test(said))) return { kind: "too-long", message: detail };
  if (status === 429 || status === 408 || status >= 500) {
    return { kind: "busy", message: detail, afterMs: retryAfter(headerOf(headers, "retry-after"), now) };
  }
  if (status === 400 || status === 422) return { kind: "unsupported", message: detail };
  return { kind: "refused", message: `answered ${detail}` };
}

function ofCompletion({ completion, isWhole, message }: EndpointAnswer): Outcome {
  const { text, usage, error, ended, finish } = completion;
  if (error !== undefined) {
    return TOO_LONG.test(error)
      ? { kind: "too-long", message: shortLine(error, SHOWN) }
      : { kind: "cut", message: shortLine(error, SHOWN) };
  }
  if (completion.isOverLimit) return { kind: "reply", text, finish: "length", usage };
  if (!ended && (text !== "" || !isWhole)) {
    return { kind: "cut", message: isWhole ? "the stream ended before the reply did" : message };
  }
  if (!ended) return { kind: "refused", message: "answered with no chat completion" };
  return { kind: "reply", text, finish: finish ?? "stop", usage };
}

export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** What a `Retry-After` asks for, in ms; undefined if it cannot be read. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(at - now, 0);
}

function hostOf(location: string | undefined): string {
  return location !== undefined && URL.canParse(location) ? ` to ${new URL(location).host}` : "";
}

/** Whether an answer without an event stream may hold a reply. */
export function isJsonAnswer(headers: ResponseHeaders): boolean {
  return /json/i.test(headerOf(headers, "content-type") ?? "");
}

import { buildCreateRequest, buildStatusOrStopRequest, PROVIDER } from "./build-request.js";
import { classifyProviderError } from "./classify-provider-error.js";
import type { Dialect } from "./dialect.js";
import {
  buildAnswerData,
  type Fields,
  readNonBlank,
  readObject,
  readObjects,
  readProgress,
  readUniqueSources,
  salvageId,
} from "./read-response.js";

const PATH = "/v1beta/interactions";
/** The header that fixes the format of the answers, which changed in May 2026. */
const REVISION = { "api-revision": "2026-05-20" };
/** An id that belongs to no interaction: a status request for it reads the list of models instead. */
const PROBE = "models";

/** Creates the dialect of Gemini's interactions with the Deep Research agent. */
export function createGeminiDialect(defaultModel: string): Dialect {
  return {
    name: "gemini",
    keyHeader: ["x-goog-api-key", ""],
    ...PROVIDER,
    create(body) {
      const { prompt: input, model: agent = defaultModel, output_schema: schema } = body;
      const ours = {
        ...{ agent, input, background: true, store: true },
        // Summaries and pictures cost tokens, so they are turned off.
        agent_config: { type: "deep-research", thinking_summaries: "none", visualization: "off" },
        previous_interaction_id: body.after,
        response_format: schema && { type: "text", mime_type: "application/json", schema },
      };
      return { ...buildCreateRequest("Gemini", PATH, body, ours), headers: REVISION };
    },
    request(operation, requestId) {
      const models = { method: "GET", path: "/v1beta/models?pageSize=1", json: false };
      // Gemini refuses a cancel with an API key, so a test with this id reports that there is no stop.
      if (requestId === PROBE) return operation === "status" ? models : undefined;
      return { ...buildStatusOrStopRequest(PATH, operation, requestId), headers: REVISION };
    },
    probeId: PROBE,
    fault(operation, httpStatus, value, retryAfter) {
      const error = readObject(readObject(value).error);
      const message = readNonBlank(error.message);
      if (message === undefined) return undefined;
      const details = readObjects(error.details);
      const reason = readNonBlank(details.find((detail) => readNonBlank(detail.reason))?.reason);
      const serviceError = classifyProviderError(operation, httpStatus, {
        ...{ code: reason ?? readNonBlank(error.code) ?? readNonBlank(error.status), message },
        retryAfter: findLongestWait(details) ?? retryAfter,
        isUnpaid: /do not have enough quota/i.test(message),
      });
      if (serviceError === undefined) return serviceError;
      if (reason === "API_KEY_INVALID" || /API key (?:not valid|expired)/i.test(message))
        return { ...serviceError, kind: "unauthenticated" };
      if (operation === "status" && httpStatus === 403) return { ...serviceError, kind: "withheld" };
      if (operation === "stop" && httpStatus === 404 && /method not found/i.test(message)) {
        const why = "Gemini refuses a cancel with an API key: the request goes on and is paid for";
        return { ...serviceError, message: `${why} (${message})`, kind: "refused" };
      }
      return serviceError;
    },
    data(operation, value) {
      const answer = readObject(value);
      if (operation === "status" && Array.isArray(answer.models)) return { status: "valid" };
      const { id, status, created } = answer;
      const steps = readObjects(answer.steps);
      const { content } = steps.findLast(({ type }) => type === "model_output") ?? {};
      const parts = readObjects(content).filter(
        (part) => part.type === "text" && typeof part.text === "string",
      );
      const more = {
        model: readNonBlank(answer.agent) ?? readNonBlank(answer.model),
        output: readNonBlank(parts.map((part) => part.text).join("")),
        progress: readProgress(status, steps, "google_search_call", (step) =>
          step.type === "url_context_call" ? readObject(step.arguments).urls : undefined,
        ),
        citations: convertByteCitations(parts),
        sources: readUniqueSources(parts.flatMap(({ annotations }) => readObjects(annotations))),
        error: readObjects(answer.errors)[0] ?? answer.error,
      };
      return buildAnswerData(operation, answer, { id, status, created }, more);
    },
    // Gemini does not document the form of its ids. Steps, requests and messages have ids, too, so skip those.
    salvage: (torn) => salvageId(torn.split('"steps"', 1)[0] ?? "", "id", /^(?!(?:req|msg)_)/),
  };
}

/** Returns the longest wait in the details of an error, such as `"34.07s"`, rounded up to seconds; undefined if they name none. */
function findLongestWait(details: readonly Fields[]): number | undefined {
  const waits = details.flatMap(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay))?.[1] ?? []);
  return waits.length > 0 ? Math.ceil(Math.max(...waits.map(Number))) : undefined;
}

/** Reads the citations in the joined text of `parts`. Converts Gemini's positions, in bytes of a part, to UTF-16 units of the whole. */
function convertByteCitations(parts: readonly Fields[]) {
  const citations: { start: number; end: number; url: string }[] = [];
  let before = 0;
  for (const part of parts) {
    const bytes = Buffer.from(String(part.text));
    const countUnitsAt = (index: unknown) =>
      Number.isInteger(index) && isCharacterStart(bytes, Number(index))
        ? before + bytes.toString("utf8", 0, Number(index)).length
        : Number.NaN;
    for (const { url, start_index, end_index } of readObjects(part.annotations)) {
      const [start, end] = [countUnitsAt(start_index), countUnitsAt(end_index)];
      if (start < end && readUniqueSources([{ url }])) citations.push({ start, end, url: String(url) });
    }
    before += String(part.text).length;
  }
  return citations.length > 0 ? citations : undefined;
}

/** Returns whether a character starts at byte `index`, or the text ends there. */
function isCharacterStart(bytes: Buffer, index: number): boolean {
  return index >= 0 && index <= bytes.length && ((bytes[index] ?? 0) & 0xc0) !== 0x80;
}

import { createAt, PROVIDER, requestAt } from "./asking.js";
import type { Dialect } from "./dialect.js";
import {
  answerData,
  type Fields,
  fields,
  items,
  progressIn,
  providerError,
  salvageId,
  sourcesIn,
  text,
} from "./reading.js";

const PATH = "/v1beta/interactions";
/** Keeps the form of the answers, which changed in May 2026. */
const REVISION = { "api-revision": "2026-05-20" };
/** No interaction has this id: the list of models is asked for in its place. */
const PROBE = "models";

/** Gemini: interactions with the Deep Research agent. */
export function gemini(defaultModel: string): Dialect {
  return {
    name: "gemini",
    keyHeader: ["x-goog-api-key", ""],
    ...PROVIDER,
    create(body) {
      const { prompt: input, model: agent = defaultModel, output_schema: schema } = body;
      const ours = {
        ...{ agent, input, background: true, store: true },
        // Summaries and pictures cost tokens.
        agent_config: { type: "deep-research", thinking_summaries: "none", visualization: "off" },
        previous_interaction_id: body.after,
        response_format: schema && { type: "text", mime_type: "application/json", schema },
      };
      return { ...createAt("Gemini", PATH, body, ours), headers: REVISION };
    },
    request(operation, requestId) {
      const models = { method: "GET", path: "/v1beta/models?pageSize=1", json: false };
      // There is a cancel, and it is refused for API keys: who asks whether a request can be stopped is told no.
      if (requestId === PROBE) return operation === "status" ? models : undefined;
      return { ...requestAt(PATH, operation, requestId), headers: REVISION };
    },
    probeId: PROBE,
    fault(operation, httpStatus, value, retryAfter) {
      const error = fields(fields(value).error);
      const message = text(error.message);
      if (message === undefined) return undefined;
      const details = items(error.details);
      const reason = text(details.find((one) => text(one.reason))?.reason);
      const said = providerError(operation, httpStatus, {
        ...{ code: reason ?? text(error.code) ?? text(error.status), message },
        retryAfter: secondsIn(details) ?? retryAfter,
        isUnpaid: /do not have enough quota/i.test(message),
      });
      if (said === undefined) return said;
      if (reason === "API_KEY_INVALID" || /API key (?:not valid|expired)/i.test(message))
        return { ...said, kind: "unauthenticated" };
      if (operation === "status" && httpStatus === 403) return { ...said, kind: "withheld" };
      if (operation === "stop" && httpStatus === 404 && /method not found/i.test(message)) {
        const why = "Gemini takes no cancel with an API key: what has not ended goes on and is paid for";
        return { ...said, message: `${why} (${message})`, kind: "refused" };
      }
      return said;
    },
    data(operation, value) {
      const answer = fields(value);
      if (operation === "status" && Array.isArray(answer.models)) return { status: "valid" };
      const { id, status, created } = answer;
      const steps = items(answer.steps);
      const { content } = steps.findLast(({ type }) => type === "model_output") ?? {};
      const parts = items(content).filter((part) => part.type === "text" && typeof part.text === "string");
      const more = {
        model: text(answer.agent) ?? text(answer.model),
        output: text(parts.map((part) => part.text).join("")),
        progress: progressIn(status, steps, "google_search_call", (step) =>
          step.type === "url_context_call" ? fields(step.arguments).urls : undefined,
        ),
        citations: citationsIn(parts),
        sources: sourcesIn(parts.flatMap(({ annotations }) => items(annotations))),
        error: items(answer.errors)[0] ?? answer.error,
      };
      return answerData(operation, answer, { id, status, created }, more);
    },
    // The form of its ids is not documented, and steps have ids, too, and so have requests and messages.
    salvage: (torn) => salvageId(torn.split('"steps"', 1)[0] ?? "", "id", /^(?!(?:req|msg)_)/),
  };
}

/** The longest wait that details of an error ask for, as `"34.07s"`, in whole seconds. */
function secondsIn(details: readonly Fields[]): number | undefined {
  const waits = details.flatMap(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay))?.[1] ?? []);
  return waits.length > 0 ? Math.ceil(Math.max(...waits.map(Number))) : undefined;
}

/** Which pages are cited where in the text of all `parts`, in UTF-16 units: Gemini counts the bytes of a part. */
function citationsIn(parts: readonly Fields[]) {
  const found: { start: number; end: number; url: string }[] = [];
  let before = 0;
  for (const part of parts) {
    const bytes = Buffer.from(String(part.text));
    const unitsAt = (index: unknown) =>
      Number.isInteger(index) && isCharacter(bytes, Number(index))
        ? before + bytes.toString("utf8", 0, Number(index)).length
        : Number.NaN;
    for (const { url, start_index, end_index } of items(part.annotations)) {
      const [start, end] = [unitsAt(start_index), unitsAt(end_index)];
      if (start < end && sourcesIn([{ url }])) found.push({ start, end, url: String(url) });
    }
    before += String(part.text).length;
  }
  return found.length > 0 ? found : undefined;
}

/** Whether a character begins at `index`, or the text ends there. */
function isCharacter(bytes: Buffer, index: number): boolean {
  return index >= 0 && index <= bytes.length && ((bytes[index] ?? 0) & 0xc0) !== 0x80;
}

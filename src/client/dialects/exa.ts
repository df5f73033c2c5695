import { findMemberText } from "../../core/json/exact-json.js";
import { buildCreateRequest, buildStatusOrStopRequest, PROVIDER } from "./build-request.js";
import { classifyProviderError } from "./classify-provider-error.js";
import { type Dialect, InputError } from "./dialect.js";
import {
  buildAnswerData,
  pickExactMember,
  readFieldCitations,
  readNonBlank,
  readObject,
  readObjects,
  readUniqueSources,
  salvageId,
} from "./read-response.js";

const PATH = "/agent/runs";
/** The header that the effort `max` requires. */
const MAX_EFFORT = { "exa-beta": "agent-max-effort-2026-07-27" };

/** Efforts that are charged by use; the other efforts have a fixed price. */
const METERED = ["auto", "ultra", "max"];
/** Seconds to wait after Exa refused a request because of its rate limit. */
const BUSY_S = 3;

/** Creates the dialect of Exa's agent runs. */
export function createExaDialect(defaultModel: string): Dialect {
  return {
    name: "exa",
    keyHeader: ["x-api-key", ""],
    ...PROVIDER,
    // Exa allows a team 5 requests a second, create calls and polls together.
    betweenPollsMs: 250,
    pacesAll: true,
    create(body) {
      const { prompt: query, model: effort = defaultModel, output_schema: outputSchema } = body;
      if (body.options?.budget !== undefined && !METERED.includes(effort))
        throw new InputError(
          `Exa accepts a budget only with a metered effort, but ${JSON.stringify(effort)} has a fixed price`,
          "Add --model auto (or ultra), or leave out the budget.",
        );
      const ours = { query, effort, outputSchema, previousRunId: body.after };
      const request = buildCreateRequest("Exa", PATH, body, ours);
      return effort === "max" ? { ...request, headers: MAX_EFFORT } : request;
    },
    request: (operation, requestId) => buildStatusOrStopRequest(PATH, operation, requestId),
    probeId: "agent_run_0",
    fault(operation, httpStatus, value, retryAfter) {
      const answer = readObject(value);
      const error = readObject(answer.error);
      const message = readNonBlank(answer.error) ?? readNonBlank(error.message);
      const code = readNonBlank(answer.tag) ?? readNonBlank(error.code) ?? readNonBlank(error.type);
      const serviceError = classifyProviderError(operation, httpStatus, { code, message, retryAfter });
      // Exa does not report how long to wait, and its limits are per second.
      const isBusy = serviceError && serviceError.kind === undefined && httpStatus === 429;
      return isBusy ? { ...serviceError, retryAfter: serviceError.retryAfter ?? BUSY_S } : serviceError;
    },
    data(operation, value) {
      const answer = readObject(value);
      const { id, status, createdAt: created } = answer;
      const output = pickExactMember(answer, "output");
      const hasFields = (output.structured ?? undefined) !== undefined;
      // A run contains its request. If that has a schema, the text beside the structured output is not the result.
      const isStructured = (readObject(answer.request).outputSchema ?? undefined) !== undefined;
      const { total } = readObject(answer.costDollars);
      const more = {
        output: hasFields || isStructured ? findMemberText(output, "structured") : readNonBlank(output.text),
        cost_dollars: typeof total === "number" ? total : undefined,
        sources: readUniqueSources(
          readObjects(output.grounding).flatMap(({ citations }) => readObjects(citations)),
        ),
        citations: hasFields ? readFieldCitations(output.grounding) : undefined,
        stop_reason: readNonBlank(answer.stopReason),
        // The grounding has the confidence and the score of each field.
        grounding: findMemberText(output, "grounding"),
      };
      return buildAnswerData(operation, answer, { id, status, created }, more);
    },
    salvage: (torn) => salvageId(torn, "id", /^agent_run_/),
  };
}

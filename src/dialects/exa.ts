import { memberText } from "../json/exact-json.js";
import { createAt, requestAt, requireSchema } from "./asking.js";
import type { Dialect } from "./dialect.js";
import {
  answerData,
  exactPart,
  fields,
  items,
  providerError,
  salvageId,
  sourcesIn,
  text,
} from "./reading.js";

const PATH = "/agent/runs";
/** What the effort `max` has to be asked with. */
const MAX_EFFORT = { "exa-beta": "agent-max-effort-2026-07-27" };

/** Exa: agent runs. */
export function exa(defaultModel: string): Dialect {
  return {
    name: "exa",
    keyHeader: ["x-api-key", ""],
    statusIsResult: true,
    mayLag: true,
    // 10 queries a second for a whole team, polls included.
    betweenPollsMs: 200,
    create(body) {
      requireSchema("Exa", body);
      const { prompt: query, model: effort = defaultModel, output_schema: outputSchema } = body;
      const ours = { query, effort, outputSchema, previousRunId: body.after };
      const request = createAt("Exa", PATH, body, ours, []);
      return effort === "max" ? { ...request, headers: MAX_EFFORT } : request;
    },
    request: (operation, requestId) => requestAt(PATH, operation, requestId),
    probeId: "agent_run_0",
    fault(operation, httpStatus, value) {
      const answer = fields(value);
      const error = fields(answer.error);
      const message = text(answer.error) ?? text(error.message);
      const code = text(answer.tag) ?? text(error.code) ?? text(error.type);
      return message === undefined ? undefined : providerError(operation, httpStatus, { code, message });
    },
    data(operation, value) {
      const answer = fields(value);
      const { id, status, createdAt: created } = answer;
      const output = exactPart(answer, "output");
      const hasFields = output.structured !== undefined && output.structured !== null;
      const { total } = fields(answer.costDollars);
      const more = {
        output: hasFields ? memberText(output, "structured") : text(output.text),
        cost_dollars: typeof total === "number" ? total : undefined,
        sources: sourcesIn(items(output.grounding).flatMap(({ citations }) => items(citations))),
        stop_reason: text(answer.stopReason),
      };
      return answerData(operation, answer, { id, status, created }, more);
    },
    salvage: (torn) => salvageId(torn, "id", /^agent_run_/),
  };
}

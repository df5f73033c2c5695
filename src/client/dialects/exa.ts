import { memberText } from "../../core/json/exact-json.js";
import { createAt, PROVIDER, requestAt } from "./asking.js";
import { type Dialect, InputError } from "./dialect.js";
import {
  answerData,
  exactPart,
  fieldCitations,
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

/** Efforts that cost what they use; the others have a fixed price. */
const METERED = ["auto", "ultra", "max"];
/** Seconds after a refusal for its rate. */
const BUSY_S = 3;

/** Exa: agent runs. */
export function exa(defaultModel: string): Dialect {
  return {
    name: "exa",
    keyHeader: ["x-api-key", ""],
    ...PROVIDER,
    // 5 requests a second for a whole team, creates and polls together.
    betweenPollsMs: 250,
    pacesAll: true,
    create(body) {
      const { prompt: query, model: effort = defaultModel, output_schema: outputSchema } = body;
      if (body.options?.budget !== undefined && !METERED.includes(effort))
        throw new InputError(
          `Exa takes a budget with a metered effort only, and ${JSON.stringify(effort)} has a fixed price`,
          "Add --model auto (or ultra), or leave the budget out.",
        );
      const ours = { query, effort, outputSchema, previousRunId: body.after };
      const request = createAt("Exa", PATH, body, ours);
      return effort === "max" ? { ...request, headers: MAX_EFFORT } : request;
    },
    request: (operation, requestId) => requestAt(PATH, operation, requestId),
    probeId: "agent_run_0",
    fault(operation, httpStatus, value, retryAfter) {
      const answer = fields(value);
      const error = fields(answer.error);
      const message = text(answer.error) ?? text(error.message);
      const code = text(answer.tag) ?? text(error.code) ?? text(error.type);
      const said = providerError(operation, httpStatus, { code, message, retryAfter });
      // It never says when to come back, and its limits are of a second.
      const isBusy = said && said.kind === undefined && httpStatus === 429;
      return isBusy ? { ...said, retryAfter: said.retryAfter ?? BUSY_S } : said;
    },
    data(operation, value) {
      const answer = fields(value);
      const { id, status, createdAt: created } = answer;
      const output = exactPart(answer, "output");
      const hasFields = (output.structured ?? undefined) !== undefined;
      // A run repeats what was asked. The text beside a schema is no value of it.
      const isStructured = (fields(answer.request).outputSchema ?? undefined) !== undefined;
      const { total } = fields(answer.costDollars);
      const more = {
        output: hasFields || isStructured ? memberText(output, "structured") : text(output.text),
        cost_dollars: typeof total === "number" ? total : undefined,
        sources: sourcesIn(items(output.grounding).flatMap(({ citations }) => items(citations))),
        citations: hasFields ? fieldCitations(output.grounding) : undefined,
        stop_reason: text(answer.stopReason),
        // With the confidence and the score of each field.
        grounding: memberText(output, "grounding"),
      };
      return answerData(operation, answer, { id, status, created }, more);
    },
    salvage: (torn) => salvageId(torn, "id", /^agent_run_/),
  };
}

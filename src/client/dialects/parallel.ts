import { memberText } from "../../core/json/exact-json.js";
import { createAt, PROVIDER, requestAt } from "./asking.js";
import type { Dialect } from "./dialect.js";
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

const PATH = "/v1/tasks/runs";

/** Parallel: task runs. It has no way to stop one, and a result of its own address. */
export function parallel(defaultModel: string): Dialect {
  return {
    name: "parallel",
    keyHeader: ["x-api-key", ""],
    ...PROVIDER,
    statusIsResult: false,
    create(body) {
      const {
        prompt: input,
        model: processor = defaultModel,
        structured_output,
        output_schema,
        ...rest
      } = body;
      // Without one the output is JSON of the service's own design, so a report has to be asked for.
      const schema = output_schema
        ? { type: "json", json_schema: output_schema }
        : { type: structured_output ? "auto" : "text" };
      const task_spec = { output_schema: schema };
      const ours = { input, processor, task_spec, previous_interaction_id: rest.after };
      return createAt("Parallel", PATH, rest, ours);
    },
    request(operation, requestId) {
      if (operation === "stop") return undefined;
      const request = requestAt(PATH, operation, requestId);
      // It holds the answer back for as long as `timeout` says.
      return operation === "output" ? { ...request, path: `${request.path}/result?timeout=1` } : request;
    },
    probeId: "trun_0",
    fault(operation, httpStatus, value, retryAfter) {
      const message = text(fields(fields(value).error).message);
      const said = providerError(operation, httpStatus, { code: undefined, message, retryAfter });
      // The result is not there yet.
      return said && operation === "output" && httpStatus === 408 ? { ...said, kind: "refused" } : said;
    },
    data(operation, value) {
      const answer = fields(value);
      const run = operation === "output" ? exactPart(answer, "run") : answer;
      const { run_id: id, status, created_at: created } = run;
      const output = exactPart(answer, "output");
      if (operation === "output" && text(status) === undefined) return "the answer has no run";
      const citations = items(output.basis).flatMap((basis) => items(basis.citations));
      const more = {
        model: text(run.processor),
        output: memberText(output, "content"),
        basis: memberText(output, "basis"),
        sources: sourcesIn(citations),
        citations: typeof output.content === "string" ? undefined : fieldCitations(output.basis),
      };
      return answerData(operation, run, { id, status, created, holdsResult: operation === "output" }, more);
    },
    salvage: (torn) => salvageId(torn, "run_id", /^trun_/),
  };
}

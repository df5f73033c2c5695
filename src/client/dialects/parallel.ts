import { findMemberText } from "../../core/json/exact-json.js";
import { buildRequestAt, createAt, PROVIDER } from "./asking.js";
import type { Dialect } from "./dialect.js";
import {
  answerData,
  classifyProviderError,
  pickExactPart,
  readFieldCitations,
  readFields,
  readItems,
  readSources,
  readText,
  salvageId,
} from "./reading.js";

const PATH = "/v1/tasks/runs";

/** Parallel: task runs. It has no way to stop one, and a result of its own address. */
export function createParallel(defaultModel: string): Dialect {
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
      const request = buildRequestAt(PATH, operation, requestId);
      // It holds the answer back for as long as `timeout` says.
      return operation === "output" ? { ...request, path: `${request.path}/result?timeout=1` } : request;
    },
    probeId: "trun_0",
    fault(operation, httpStatus, value, retryAfter) {
      const message = readText(readFields(readFields(value).error).message);
      const serviceError = classifyProviderError(operation, httpStatus, {
        code: undefined,
        message,
        retryAfter,
      });
      // The result is not there yet.
      return serviceError && operation === "output" && httpStatus === 408
        ? { ...serviceError, kind: "refused" }
        : serviceError;
    },
    data(operation, value) {
      const answer = readFields(value);
      const run = operation === "output" ? pickExactPart(answer, "run") : answer;
      const { run_id: id, status, created_at: created } = run;
      const output = pickExactPart(answer, "output");
      if (operation === "output" && readText(status) === undefined) return "the answer has no run";
      const citations = readItems(output.basis).flatMap((basis) => readItems(basis.citations));
      const more = {
        model: readText(run.processor),
        output: findMemberText(output, "content"),
        basis: findMemberText(output, "basis"),
        sources: readSources(citations),
        citations: typeof output.content === "string" ? undefined : readFieldCitations(output.basis),
      };
      return answerData(operation, run, { id, status, created, holdsResult: operation === "output" }, more);
    },
    salvage: (torn) => salvageId(torn, "run_id", /^trun_/),
  };
}

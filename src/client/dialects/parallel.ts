import { findMemberText } from "../../core/json/exact-json.js";
import { buildCreateRequest, buildStatusOrStopRequest, PROVIDER } from "./build-request.js";
import { classifyProviderError } from "./classify-provider-error.js";
import type { Dialect } from "./dialect.js";
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

const PATH = "/v1/tasks/runs";

/** Creates the dialect of Parallel's task runs, which cannot be stopped and have a separate address for the result. */
export function createParallelDialect(defaultModel: string): Dialect {
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
      // Without a schema, Parallel answers with JSON of its own design, so ask for a text.
      const schema = output_schema
        ? { type: "json", json_schema: output_schema }
        : { type: structured_output ? "auto" : "text" };
      const task_spec = { output_schema: schema };
      const ours = { input, processor, task_spec, previous_interaction_id: rest.after };
      return buildCreateRequest("Parallel", PATH, rest, ours);
    },
    request(operation, requestId) {
      if (operation === "stop") return undefined;
      const request = buildStatusOrStopRequest(PATH, operation, requestId);
      // Parallel waits up to `timeout` seconds for the result before it answers.
      return operation === "output" ? { ...request, path: `${request.path}/result?timeout=1` } : request;
    },
    probeId: "trun_0",
    fault(operation, httpStatus, value, retryAfter) {
      const message = readNonBlank(readObject(readObject(value).error).message);
      const serviceError = classifyProviderError(operation, httpStatus, {
        code: undefined,
        message,
        retryAfter,
      });
      // A 408 means that the result is not ready yet.
      return serviceError && operation === "output" && httpStatus === 408
        ? { ...serviceError, kind: "refused" }
        : serviceError;
    },
    data(operation, value) {
      const answer = readObject(value);
      const run = operation === "output" ? pickExactMember(answer, "run") : answer;
      const { run_id: id, status, created_at: created } = run;
      const output = pickExactMember(answer, "output");
      if (operation === "output" && readNonBlank(status) === undefined) return "the answer has no run";
      const citations = readObjects(output.basis).flatMap((basis) => readObjects(basis.citations));
      const more = {
        model: readNonBlank(run.processor),
        output: findMemberText(output, "content"),
        basis: findMemberText(output, "basis"),
        sources: readUniqueSources(citations),
        citations: typeof output.content === "string" ? undefined : readFieldCitations(output.basis),
      };
      return buildAnswerData(
        operation,
        run,
        { id, status, created, holdsResult: operation === "output" },
        more,
      );
    },
    salvage: (torn) => salvageId(torn, "run_id", /^trun_/),
  };
}

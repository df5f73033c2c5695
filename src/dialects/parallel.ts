import { memberText } from "../json/exact-json.js";
import { isRequestId, type KnownStatus } from "../protocol/conversation.js";
import { createAt } from "./asking.js";
import type { Dialect } from "./dialect.js";
import {
  exactPart,
  fields,
  inOurWords,
  isoTime,
  items,
  providerError,
  salvageId,
  sourcesIn,
  statusWords,
  text,
} from "./reading.js";

const PATH = "/v1/tasks/runs";
const STATES: Readonly<Record<string, KnownStatus>> = {
  queued: "PENDING",
  running: "PROCESSING",
  cancelling: "PROCESSING",
  action_required: "PROCESSING",
  completed: "COMPLETED",
  failed: "FAILED",
  cancelled: "STOPPED",
};

/** Parallel: task runs. It has no way to stop one, and a result of its own address. */
export function parallel(defaultModel: string): Dialect {
  return {
    name: "parallel",
    keyHeader: ["x-api-key", ""],
    statusIsResult: false,
    mayLag: true,
    betweenPollsMs: 100,
    create(body) {
      const {
        prompt: input,
        model: processor = defaultModel,
        structured_output,
        output_schema,
        after,
      } = body;
      // Without one the output is JSON of the service's own design, so a report has to be asked for.
      const schema = output_schema
        ? { type: "json", json_schema: output_schema }
        : { type: structured_output ? "auto" : "text" };
      const task_spec = { output_schema: schema };
      const ours = { input, processor, task_spec, previous_interaction_id: after };
      return createAt("Parallel", PATH, body, ours, []);
    },
    request(operation, requestId) {
      const path = `${PATH}/${encodeURIComponent(requestId)}`;
      if (operation === "stop") return undefined;
      // It holds the answer back for as long as `timeout` says.
      return { method: "GET", path: operation === "output" ? `${path}/result?timeout=1` : path, json: false };
    },
    probeId: "trun_0",
    fault(operation, httpStatus, value) {
      const message = text(fields(fields(value).error).message);
      if (message === undefined) return undefined;
      const said = providerError(operation, httpStatus, { code: undefined, message });
      // The result is not there yet.
      return said && operation === "output" && httpStatus === 408 ? { ...said, kind: "refused" } : said;
    },
    data(operation, value) {
      const answer = fields(value);
      const run = operation === "output" ? exactPart(answer, "run") : answer;
      const id = run.run_id;
      const states = statusWords(run.status, STATES);
      if (operation === "create" && !isRequestId(id)) return "the answer has no id";
      if (operation === "status" && states.status === undefined) return "the answer has no status";
      const output = exactPart(answer, "output");
      if (operation === "output" && !Object.hasOwn(output, "content")) return "the answer has no output";
      const citations = items(output.basis).flatMap((basis) => items(basis.citations));
      return inOurWords(run, {
        request_id: isRequestId(id) ? id : undefined,
        ...states,
        created_at: isoTime(run.created_at),
        model: text(run.processor),
        output: memberText(output, "content"),
        basis: memberText(output, "basis"),
        sources: sourcesIn(citations),
      });
    },
    salvage: (torn) => salvageId(torn, "run_id", /^trun_/),
  };
}

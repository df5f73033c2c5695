import { CodedError } from "../../machine/errors.js";
import type { JsonSchema } from "../../protocol/conversation.js";
import { checkResult, type Result } from "../../workflows/results.js";
import type { Terminal } from "../terminal/terminal.js";
import type { ResultOptions } from "./options.js";

/** A request whose result is checked; a schema that is not known is undefined. */
export interface CheckedRequest {
  requestId: string;
  schema: JsonSchema | undefined;
}

/**
 * Checks a result against the schema it was asked for. A mismatch is said, or thrown as CodedError `SCHEMA_MISMATCH`
 * with `strict`. `name` stands before the message if there are several results.
 */
export async function checkFit(
  { reporter, signal }: Pick<Terminal, "reporter" | "signal">,
  result: Pick<Result, "exact">,
  { requestId, schema }: CheckedRequest,
  { strict = false, name }: Pick<ResultOptions, "strict"> & { name?: string },
): Promise<void> {
  const subject = name ? `${name}: ` : "";
  if (!schema) {
    if (strict)
      await reporter.notice(
        "NOT_CHECKED",
        `${subject}the result was not checked: no schema is known for ${requestId}`,
      );
    return;
  }
  const problem = await checkResult(result, schema, { signal });
  if (!problem) return;
  const { problemText } = await import("../../json-schema/check.js");
  const why = problemText(problem, "the result");
  const message =
    problem.path === undefined
      ? `${subject}the result could not be checked against its schema: ${why}`
      : `${subject}the result does not fit its schema: ${why}`;
  if (strict) throw new CodedError("SCHEMA_MISMATCH", message, { requestId });
  await reporter.notice("SCHEMA_MISMATCH", message);
}

import { ResearchError } from "../client/calls/errors.js";

/** Thrown by `run` if it was aborted after the request was created. The research with the id `requestId` continues. */
export class AbortedError extends ResearchError {
  override readonly name = "AbortError";
  declare readonly requestId: string;

  /** `reason`: the reason of the aborted signal. */
  constructor(requestId: string, reason: unknown) {
    const message = `the run was aborted; the research continues, and watch(${JSON.stringify(requestId)}) waits until it ends`;
    super("INTERRUPTED", message, { requestId });
    this.cause = reason;
  }
}

export interface SchemaIssue {
  message: string;
  /** The names and indexes that lead from the whole result to the value. */
  path: readonly PropertyKey[];
}

/** Thrown by `output` and `run` if the result does not fit the given schema. */
export class SchemaMismatchError extends ResearchError {
  override readonly name = "SchemaMismatchError";
  declare readonly requestId: string;

  constructor(
    requestId: string,
    readonly issues: readonly SchemaIssue[],
  ) {
    const why = issues.map(
      ({ path, message }) => `${path.length > 0 ? `${path.join(".")}: ` : ""}${message}`,
    );
    super("SCHEMA_MISMATCH", `the result of ${requestId} does not fit: ${why.join("; ")}`, { requestId });
  }
}

import { ResearchError } from "../client/calls/errors.js";

/** A run was aborted after its request was created. The research continues; `requestId` is its id. */
export class AbortedError extends ResearchError {
  override readonly name = "AbortError";
  declare readonly requestId: string;

  /** `reason`: the reason of the signal. */
  constructor(requestId: string, reason: unknown) {
    const message = `the run was aborted; the research continues, and watch(${JSON.stringify(requestId)}) waits until it ends`;
    super("INTERRUPTED", message, { requestId });
    this.cause = reason;
  }
}

export interface SchemaIssue {
  message: string;
  /** Names and indexes from the result down to the value. */
  path: readonly PropertyKey[];
}

/** The result does not fit the schema that was given for it. */
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

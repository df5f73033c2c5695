export interface SchemaProblem {
  /** A JSON pointer, empty for the whole value; undefined if the problem does not concern one place. */
  path?: string;
  message: string;
}

/** A request to the schema thread: whether a schema is usable or, with `value`, whether the value fits. Both are JSON texts. */
export interface SchemaCheckRequest {
  schema: string;
  value?: string;
}

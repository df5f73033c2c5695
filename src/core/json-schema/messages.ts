export interface Problem {
  /** A JSON pointer, empty for the whole value; undefined if the problem has no place in it. */
  path?: string;
  message: string;
}

/** Asks the thread whether a schema is usable or, with `value`, whether the value fits it. Both are JSON texts. */
export interface SchemaQuestion {
  schema: string;
  value?: string;
}

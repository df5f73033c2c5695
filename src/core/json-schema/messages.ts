export interface Problem {
  /** A JSON pointer, empty for the whole; undefined if the problem has no place. */
  path?: string;
  message: string;
}

/** A question to the thread: is this a usable JSON Schema, or does this value fit it? Both are JSON texts. */
export interface SchemaQuestion {
  schema: string;
  value?: string;
}

import { exactJson } from "../json/exact-json.js";
import type { Problem, SchemaAnswer } from "./messages.js";
import { oversize } from "./oversize.js";
import { LimitError, SchemaThread } from "./thread.js";

export type { Problem } from "./messages.js";

/** A value that takes long to check must not hold up the schemas of others. */
const [schemas, values] = [new SchemaThread(), new SchemaThread()];

/**
 * What makes `schema` unusable as a JSON Schema (of draft 2020-12, or the one that its `$schema` names); undefined if
 * nothing does. Takes at most 5 s and 512 MiB, in a thread of its own that is started for the first schema. Rejects
 * with `signal.reason` when aborted. `took` is told how long the check itself took, ms.
 */
export async function checkSchema(
  schema: object,
  signal?: AbortSignal,
  took?: (ms: number) => void,
): Promise<Problem | undefined> {
  const message = oversize(schema);
  if (message !== undefined) return { message };
  return (await ask(schemas, { schema: exactJson(schema) }, signal, took))[0];
}

/** The first way in which a value, given as JSON text, does not fit `schema`; otherwise as `checkSchema`. */
export async function checkValue(
  schema: object,
  value: string,
  signal?: AbortSignal,
): Promise<Problem | undefined> {
  const message = oversize(schema);
  if (message !== undefined) return { message };
  return (await ask(values, { schema: exactJson(schema), value }, signal))[0];
}

/** A problem in a sentence; `whole` names what has an empty path. */
export function problemText({ path, message }: Problem, whole: string): string {
  return path === undefined ? message : `at ${path === "" ? whole : path}: ${message}`;
}

async function ask(thread: SchemaThread, ...asked: Parameters<SchemaThread["ask"]>): Promise<SchemaAnswer> {
  try {
    return await thread.ask(...asked);
  } catch (error) {
    if (error instanceof LimitError) return [{ message: `it cannot be checked: ${error.message}` }];
    throw error;
  }
}

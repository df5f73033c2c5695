import { systemClock } from "../clock.js";
import { stringifyExact } from "../json/exact-json.js";
import { ThreadLimitError, ThreadPool } from "../thread-pool.js";
import type { SchemaCheckRequest, SchemaProblem } from "./validator.js";

export type { SchemaProblem } from "./validator.js";

const LIMITS = { limitMs: 5_000, heapMib: 512 };

/** The limits of a schema, because a deeper one might overflow the stack, and a larger one takes seconds to compile. */
const MAX_DEPTH = 100;
const MAX_NODES = 20_000;

/** Separate threads for schemas and values, so that a value that takes long to check does not delay other users' schemas. */
const [schemas, values] = [getValidatorThreads(), getValidatorThreads()];

function getValidatorThreads() {
  const options = { name: "schema-worker", most: 1, clock: systemClock, ...LIMITS };
  return new ThreadPool<SchemaCheckRequest, SchemaProblem | undefined>(options);
}

/** Returns why `schema` cannot be used; undefined if it can. Takes at most 5 s and 512 MiB. `reportMs` gets the time of the check. */
export function checkSchema(
  schema: object,
  signal?: AbortSignal,
  reportMs?: (ms: number) => void,
): Promise<SchemaProblem | undefined> {
  return askValidatorThread(schemas, schema, undefined, signal, reportMs);
}

/** Returns the first problem of a value (JSON text) with `schema`; undefined if it fits. Limits as for `checkSchema`. */
export function checkValue(
  schema: object,
  value: string,
  signal?: AbortSignal,
): Promise<SchemaProblem | undefined> {
  return askValidatorThread(values, schema, value, signal);
}

/** Describes a problem in a phrase. `whole` names the value of an empty path. */
export function describeProblem({ path, message }: SchemaProblem, whole: string): string {
  return path === undefined ? message : `at ${path === "" ? whole : path}: ${message}`;
}

async function askValidatorThread(
  threads: ThreadPool<SchemaCheckRequest, SchemaProblem | undefined>,
  schema: object,
  value: string | undefined,
  signal = new AbortController().signal,
  reportMs?: (ms: number) => void,
): Promise<SchemaProblem | undefined> {
  const message = explainIfTooLarge(schema);
  if (message !== undefined) return { message };
  let start: number | undefined;
  try {
    const question = { schema: stringifyExact(schema), ...(value !== undefined && { value }) };
    return await threads.ask(question, signal, () => {
      start = systemClock.monotonic();
    });
  } catch (error) {
    if (!(error instanceof ThreadLimitError)) throw error;
    return { message: `it cannot be checked: it takes more than ${error.limit}` };
  } finally {
    if (start !== undefined) reportMs?.(systemClock.monotonic() - start);
  }
}

/** Returns why `value` is too large for a schema; undefined if it is not. Stops counting at a limit. */
export function explainIfTooLarge(value: unknown): string | undefined {
  let nodes = 0;
  const visit = (node: unknown, depth: number): string | undefined => {
    if (typeof node !== "object" || node === null) return undefined;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    for (const child of Object.values(node)) {
      nodes += 1;
      if (nodes > MAX_NODES) return `it has more than ${MAX_NODES} parts`;
      const problem = visit(child, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return visit(value, 0);
}

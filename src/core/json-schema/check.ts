import { systemClock } from "../clock.js";
import { stringifyExact } from "../json/exact-json.js";
import { OverLimit, Threads } from "../threads.js";
import type { Problem, SchemaQuestion } from "./messages.js";

export type { Problem } from "./messages.js";

const LIMITS = { limitMs: 5_000, heapMib: 512 };

/** A deeper schema could overflow a stack, and a larger one takes seconds to compile. */
const MAX_DEPTH = 100;
const MAX_NODES = 20_000;

/** One thread for each: a value that takes long to check must not hold up the schemas of others. */
const [schemas, values] = [getThreads(), getThreads()];

function getThreads() {
  const options = { name: "schema-worker", most: 1, clock: systemClock, ...LIMITS };
  return new Threads<SchemaQuestion, Problem | undefined>(options);
}

/** What makes `schema` unusable; undefined if nothing does. At most 5 s and 512 MiB. `took` is told the ms. */
export function checkSchema(
  schema: object,
  signal?: AbortSignal,
  took?: (ms: number) => void,
): Promise<Problem | undefined> {
  return ask(schemas, schema, undefined, signal, took);
}

/** The first way in which a value, given as JSON text, does not fit `schema`; otherwise as `checkSchema`. */
export function checkValue(
  schema: object,
  value: string,
  signal?: AbortSignal,
): Promise<Problem | undefined> {
  return ask(values, schema, value, signal);
}

/** A problem in a sentence; `whole` names what has an empty path. */
export function describeProblem({ path, message }: Problem, whole: string): string {
  return path === undefined ? message : `at ${path === "" ? whole : path}: ${message}`;
}

async function ask(
  threads: Threads<SchemaQuestion, Problem | undefined>,
  schema: object,
  value: string | undefined,
  signal = new AbortController().signal,
  took?: (ms: number) => void,
): Promise<Problem | undefined> {
  const message = describeOversize(schema);
  if (message !== undefined) return { message };
  let start: number | undefined;
  const startCheck = () => {
    start = systemClock.monotonic();
  };
  try {
    const question = { schema: stringifyExact(schema), ...(value !== undefined && { value }) };
    return await threads.ask(question, signal, { begun: startCheck });
  } catch (error) {
    if (!(error instanceof OverLimit)) throw error;
    return { message: `it cannot be checked: it takes more than ${error.limit}` };
  } finally {
    if (start !== undefined) took?.(systemClock.monotonic() - start);
  }
}

/** Why `value` is too much for a schema; undefined if it is not. Stops counting at the limits. */
export function describeOversize(value: unknown): string | undefined {
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

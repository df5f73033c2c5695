import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "../clock.js";
import { exactJson } from "../json/exact-json.js";
import { type Problem, READY, type SchemaAnswer, type SchemaQuestion } from "./messages.js";

export type { Problem } from "./messages.js";

/** How long one question may take once the thread runs, ms. */
const LIMIT_MS = 5_000;
/** How long the thread may take to start on a busy machine, ms. */
const START_MS = 60_000;
/** The most memory that one question may take, MiB. */
const LIMIT_MIB = 512;

/** A deeper schema could overflow a stack, and a larger one takes seconds to compile. */
const MAX_DEPTH = 100;
const MAX_NODES = 20_000;

/** A question took too long or too much memory; its thread is gone. */
class LimitError extends Error {
  override name = "LimitError";
}

/** A thread that answers one question at a time, and keeps no process alive while it has none. */
class SchemaThread {
  #worker: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects with a LimitError, with `signal.reason`, or with what stopped the thread. `took`: in ms, once asked. */
  ask(question: SchemaQuestion, signal?: AbortSignal, took?: (ms: number) => void): Promise<SchemaAnswer> {
    const asked = this.#last.then(() => this.#ask(question, signal, took));
    this.#last = asked.catch(() => {});
    return asked;
  }

  async #ask(
    question: SchemaQuestion,
    signal?: AbortSignal,
    took?: (ms: number) => void,
  ): Promise<SchemaAnswer> {
    signal?.throwIfAborted();
    this.#worker ??= started(signal);
    const starting = this.#worker;
    let worker: Worker | undefined;
    let begun: number | undefined;
    try {
      worker = await starting;
      begun = systemClock.monotonic();
      worker.ref();
      const asked = message(worker, signal, LIMIT_MS, `it takes more than ${LIMIT_MS / 1000} s`);
      worker.postMessage(question);
      return (await asked) as SchemaAnswer;
    } catch (error) {
      this.#worker = undefined;
      void worker?.terminate();
      throw outOfMemory(error) ? new LimitError(`it takes more than ${LIMIT_MIB} MiB`) : error;
    } finally {
      worker?.unref();
      if (begun !== undefined) took?.(systemClock.monotonic() - begun);
    }
  }
}

/** A value that takes long to check must not hold up the schemas of others. */
const [schemas, values] = [new SchemaThread(), new SchemaThread()];

/**
 * What makes `schema` unusable as a JSON Schema (of draft 2020-12, or the one that its `$schema` names); undefined if
 * nothing does. Takes at most 5 s and 512 MiB, in a thread of its own that is started for the first schema. Rejects
 * with `signal.reason` when aborted. `took` is told how long the check itself took, ms.
 */
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
export function problemText({ path, message }: Problem, whole: string): string {
  return path === undefined ? message : `at ${path === "" ? whole : path}: ${message}`;
}

async function ask(
  thread: SchemaThread,
  schema: object,
  value: string | undefined,
  ...limits: [signal?: AbortSignal, took?: (ms: number) => void]
): Promise<Problem | undefined> {
  const message = oversize(schema);
  if (message !== undefined) return { message };
  try {
    const question = { schema: exactJson(schema), ...(value !== undefined && { value }) };
    return (await thread.ask(question, ...limits))[0];
  } catch (error) {
    if (error instanceof LimitError) return { message: `it cannot be checked: ${error.message}` };
    throw error;
  }
}

/** Why `value` is too much for a schema; undefined if it is not. Stops counting at the limits. */
export function oversize(value: unknown): string | undefined {
  let nodes = 0;
  const visit = (node: unknown, depth: number): string | undefined => {
    if (typeof node !== "object" || node === null) return undefined;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    for (const child of Object.values(node)) {
      nodes += 1;
      if (nodes > MAX_NODES) return `it has more than ${MAX_NODES} parts`;
      const found = visit(child, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(value, 0);
}

async function started(signal?: AbortSignal): Promise<Worker> {
  const worker = new Worker(workerFile(), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: LIMIT_MIB },
  });
  // One that dies while it has nothing to do must not end the process.
  worker.on("error", () => {});
  try {
    const said = await message(worker, signal, START_MS, `its thread did not start in ${START_MS / 1000} s`);
    if (said !== READY) throw new Error(`the schema thread began with ${said}`);
    return worker;
  } catch (error) {
    void worker.terminate();
    throw error;
  }
}

/** The next message of a worker. Rejects with what ends the worker, an abort, or a LimitError after `limitMs`. */
async function message(
  worker: Worker,
  signal: AbortSignal | undefined,
  limitMs: number,
  late: string,
): Promise<unknown> {
  const over = new AbortController();
  const limits = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
  const heard = once(worker, "message", { signal: limits });
  const exit = once(worker, "exit", { signal: limits }).then(() => {
    throw new Error("the schema thread ended by itself");
  });
  const time = systemClock.sleep(limitMs, limits).then(() => {
    throw new LimitError(late);
  });
  try {
    return (await Promise.race([heard, exit, time]))[0];
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}

function outOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** The thread's own bundle. It lies in dist/ both for the bundled program and for the sources beside it. */
function workerFile(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const file of [join(folder, "schema-worker.js"), join(folder, "dist", "schema-worker.js")]) {
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) throw new Error("dist/schema-worker.js is missing: run the build");
  }
}

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "../clock.js";
import { READY, type SchemaAnswer, type SchemaQuestion } from "./messages.js";

/** How long one question may take once the thread runs, ms. */
export const LIMIT_MS = 5_000;
/** How long the thread may take to start on a busy machine, ms. */
const START_MS = 60_000;
/** The most memory that one question may take, MiB. */
export const LIMIT_MIB = 512;

/** A question took too long or too much memory; its thread is gone. */
export class LimitError extends Error {
  override name = "LimitError";
}

/** A thread that answers one question at a time, and keeps no process alive while it has none. */
export class SchemaThread {
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
function message(
  worker: Worker,
  signal: AbortSignal | undefined,
  limitMs: number,
  late: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const done = () => {
      over.abort();
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      signal?.removeEventListener("abort", onAbort);
    };
    const onMessage = (value: unknown) => {
      done();
      resolve(value);
    };
    const onError = (error: unknown) => {
      done();
      reject(error);
    };
    const onExit = () => onError(new Error("the schema thread ended by itself"));
    const onAbort = () => onError(signal?.reason);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    signal?.addEventListener("abort", onAbort, { once: true });
    systemClock.sleep(limitMs, over.signal).then(
      () => onError(new LimitError(late)),
      () => {},
    );
  });
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

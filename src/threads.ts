import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { parentPort, type TransferListItem, Worker } from "node:worker_threads";
import type { Clock } from "./clock.js";
import { Semaphore } from "./semaphore.js";

export interface ThreadOptions {
  /** The name of the bundle that a thread runs: it calls `answerQuestions`. */
  name: string;
  /** How many questions are worked on at a time. */
  most: number;
  /** What one question may allocate, MiB, and how long it may take, ms. */
  heapMib: number;
  limitMs: number;
  clock: Pick<Clock, "sleep">;
  /** Whether threads stay when no question is open. They keep their memory. */
  keepsIdle: boolean;
}

/** A question took more time or memory than it may, as a phrase that follows its subject. */
export class OverLimit extends Error {
  override name = "OverLimit";
  /** `limit` as in "5 s" or "512 MiB of memory". */
  constructor(readonly limit: string) {
    super(`took more than ${limit}`);
  }
}

/** What a thread says when it can be asked. */
const READY = "ready";

/** The entry of a thread: answers each question with what `answer` gives. */
export function answerQuestions<Question>(answer: (question: Question) => unknown): void {
  parentPort?.on("message", async (question: Question) => parentPort?.postMessage(await answer(question)));
  parentPort?.postMessage(READY);
}

/**
 * Threads that answer one question at a time each, and keep no process alive while they have none. One that fails, or
 * is stopped, is ended with all its memory.
 */
export class Threads<Question, Answer> {
  readonly #places: Semaphore;
  readonly #all = new Set<Worker>();
  readonly #idle: Worker[] = [];
  #open = 0;
  constructor(private readonly options: ThreadOptions) {
    this.#places = new Semaphore(options.most);
  }

  /**
   * Rejects with `signal.reason`, with an OverLimit, or with what ended the thread. `begun` is called when the question
   * has neither to wait for a place nor for a thread to start any more.
   */
  async ask(
    question: Question,
    signal: AbortSignal,
    { transfer = [], begun }: { transfer?: TransferListItem[]; begun?: (() => void) | undefined } = {},
  ): Promise<Answer> {
    const { clock, limitMs, heapMib, keepsIdle } = this.options;
    this.#open += 1;
    let leave = () => {};
    let worker: Worker | undefined;
    const over = new AbortController();
    try {
      leave = await this.#places.take(signal);
      worker = this.#idle.pop();
      if (worker === undefined) {
        worker = this.#start();
        await message(worker, signal);
      }
      begun?.();
      worker.ref();
      worker.postMessage(question, transfer);
      const late = clock.sleep(limitMs, over.signal).then(() => {
        throw new OverLimit(`${limitMs / 1_000} s`);
      });
      const answer = await Promise.race([message(worker, signal), late]);
      worker.unref();
      this.#idle.push(worker);
      return answer as Answer;
    } catch (error) {
      await worker?.terminate();
      signal.throwIfAborted();
      const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      throw isMemory ? new OverLimit(`${heapMib} MiB of memory`) : error;
    } finally {
      over.abort();
      leave();
      this.#open -= 1;
      if (this.#open === 0 && !keepsIdle) await Promise.all(this.#idle.map((idle) => idle.terminate()));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  #start(): Worker {
    const { name, heapMib } = this.options;
    const worker = new Worker(threadFile(name), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMib },
      // What a document makes a library print.
      stdout: true,
      stderr: true,
    });
    this.#all.add(worker);
    // A thread that dies while idle must neither end the process nor be given a question.
    worker.on("error", () => {});
    worker.on("exit", () => {
      this.#all.delete(worker);
      if (this.#idle.includes(worker)) this.#idle.splice(this.#idle.indexOf(worker), 1);
    });
    return worker;
  }
}

/** The next message of a thread. Rejects when it ends, and on an abort. */
async function message(worker: Worker, signal: AbortSignal): Promise<unknown> {
  const heard = new AbortController();
  const until = { signal: AbortSignal.any([signal, heard.signal]) };
  const exit = once(worker, "exit", until).then(() => {
    throw new Error("its thread was ended");
  });
  try {
    return (await Promise.race([once(worker, "message", until), exit]))[0];
  } finally {
    heard.abort();
  }
}

/** The bundle of a thread. It lies in dist/ both for the bundled program and for the sources beside it. */
export function threadFile(name: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const file of [join(folder, `${name}.js`), join(folder, "dist", `${name}.js`)]) {
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) throw new Error(`dist/${name}.js is missing: run the build`);
  }
}

import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TransferListItem, Worker } from "node:worker_threads";
import type { Clock } from "../../clock.js";
import { Semaphore } from "../semaphore.js";

export interface ThreadOptions {
  /** The name of the bundle that a thread runs: it answers each message with one. */
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
}

/** Threads that answer one question at a time each. One that fails, or is stopped, is ended with all its memory. */
export class Threads<Question, Answer> {
  readonly #places: Semaphore;
  readonly #all = new Set<Worker>();
  readonly #idle: Worker[] = [];
  #open = 0;
  constructor(private readonly options: ThreadOptions) {
    this.#places = new Semaphore(options.most);
  }

  /** Rejects with `signal.reason`, with an OverLimit, or with what ended the thread. */
  async ask(question: Question, signal: AbortSignal, transfer: TransferListItem[] = []): Promise<Answer> {
    this.#open += 1;
    let leave = () => {};
    try {
      leave = await this.#places.take(signal);
      const worker = this.#idle.pop() ?? this.#start();
      const answer = await this.#answer(worker, question, signal, transfer);
      this.#idle.push(worker);
      return answer;
    } finally {
      leave();
      this.#open -= 1;
      if (this.#open === 0 && !this.options.keepsIdle)
        await Promise.all(this.#idle.map((worker) => worker.terminate()));
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
    // A thread that dies while idle must neither end the service nor be given a question.
    worker.on("error", () => {});
    worker.on("exit", () => {
      this.#all.delete(worker);
      if (this.#idle.includes(worker)) this.#idle.splice(this.#idle.indexOf(worker), 1);
    });
    return worker;
  }

  async #answer(
    worker: Worker,
    question: Question,
    signal: AbortSignal,
    transfer: TransferListItem[],
  ): Promise<Answer> {
    const { clock, limitMs, heapMib } = this.options;
    const over = new AbortController();
    const until = { signal: AbortSignal.any([signal, over.signal]) };
    const fail = (error: Error) => () => {
      throw error;
    };
    worker.ref();
    try {
      worker.postMessage(question, transfer);
      return await Promise.race([
        once(worker, "message", until).then(([answer]) => answer as Answer),
        once(worker, "exit", until).then(fail(new Error("its thread was ended"))),
        clock.sleep(limitMs, over.signal).then(fail(new OverLimit(`took more than ${limitMs / 1_000} s`))),
      ]);
    } catch (error) {
      await worker.terminate();
      signal.throwIfAborted();
      const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      throw isMemory ? new OverLimit(`needed more than ${heapMib} MiB of memory`) : error;
    } finally {
      over.abort();
      worker.unref();
    }
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

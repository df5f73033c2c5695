import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Clock } from "../../../clock.js";
import { threadFile } from "../thread-file.js";
import type { CutDocument, DocumentTask } from "./document.js";

/** How long one document may take, ms, and what its text and its reader may need, MiB: 200 pages of PDF need 2 s and 130 MiB. */
const LIMIT_MS = 30_000;
const HEAP_MIB = 512;
const ENDED: CutDocument = { reason: "it cannot be read: its thread was ended" };

/** Reads documents from outside one after the other, in a thread that is ended if one takes too much. */
export class DocumentThread {
  #worker: Worker | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;
  constructor(private readonly clock: Pick<Clock, "sleep">) {}

  /** Never rejects: what goes wrong is the reason why the document is not read. */
  read(task: DocumentTask): Promise<CutDocument> {
    this.#waiting += 1;
    const read = this.#queue.then(() => this.#read(task));
    this.#queue = read;
    return read;
  }

  /** What is being read ends at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  async #read(task: DocumentTask): Promise<CutDocument> {
    if (this.#isClosed) return ENDED;
    this.#worker ??= new Worker(threadFile("document-worker"), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      // What a document makes a library print.
      stdout: true,
      stderr: true,
    });
    const worker = this.#worker;
    const read = await this.#answerOf(worker, task);
    this.#waiting -= 1;
    // An idle thread would keep its memory.
    if ("reason" in read || this.#waiting === 0) {
      this.#worker = undefined;
      await worker.terminate();
    }
    return read;
  }

  async #answerOf(worker: Worker, task: DocumentTask): Promise<CutDocument> {
    const over = new AbortController();
    const { signal } = over;
    const answers = [
      once(worker, "message", { signal }).then(([read]) => read as CutDocument, failure),
      once(worker, "exit", { signal }).then(() => ENDED, failure),
      this.clock
        .sleep(LIMIT_MS, signal)
        .then(() => ({ reason: `reading it takes more than ${LIMIT_MS / 1_000} s` })),
    ];
    for (const answer of answers) answer.catch(() => {});
    worker.postMessage(task);
    const read = await Promise.race(answers);
    over.abort();
    return read;
  }
}

/** How the thread failed. */
function failure(error: NodeJS.ErrnoException): CutDocument {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
    return { reason: `reading it needs more than ${HEAP_MIB} MiB of memory` };
  return { reason: `it cannot be read: ${error.message}` };
}

import { Worker } from "node:worker_threads";
import { ResearchFailure, type ResearchJob } from "../researcher.js";
import type { SourceIndex } from "../sources/source-index.js";
import { threadFile } from "../thread-file.js";
import type { Reply, Request } from "./messages.js";

/** Threads that each do one job at a time, all with the same index. */
export class ThreadPool {
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  /** `heapMb` is what one thread may allocate, in MiB: a schema of a client's may ask for anything. */
  constructor(
    private readonly index: SourceIndex,
    private readonly heapMb: number,
  ) {}

  /** Runs one job. An abort ends its thread, and with it all its memory; the next job starts a new one. */
  async run(job: ResearchJob, signal: AbortSignal): Promise<Reply & { kind: "output" }> {
    signal.throwIfAborted();
    const worker = this.#idle.pop() ?? this.#start();
    const reply = await exchange(worker, { job, index: this.index.connect() }, signal).catch(
      async (error) => {
        await this.#end(worker);
        throw error;
      },
    );
    this.#idle.push(worker);
    worker.unref();
    if (reply.kind === "failure") throw new ResearchFailure(reply.reason);
    return reply;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((worker) => this.#end(worker)));
  }

  #start(): Worker {
    const worker = new Worker(threadFile("extractive-worker"), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: this.heapMb },
    });
    this.#all.add(worker);
    // A thread that dies while idle must neither end the service nor be given a job.
    worker.on("error", () => {});
    worker.on("exit", () => this.#drop(worker));
    return worker;
  }

  async #end(worker: Worker): Promise<void> {
    this.#drop(worker);
    await worker.terminate();
  }

  #drop(worker: Worker): void {
    this.#all.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

function exchange(worker: Worker, request: Request, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const done = () => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      signal.removeEventListener("abort", onAbort);
    };
    const onMessage = (reply: Reply) => {
      done();
      resolve(reply);
    };
    const onError = (error: unknown) => {
      done();
      const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      reject(isMemory ? new ResearchFailure("The research needed more memory than one may take.") : error);
    };
    const onExit = () => onError(new Error("the research thread ended by itself"));
    const onAbort = () => onError(signal.reason);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.ref();
    worker.postMessage(request, [request.index]);
  });
}

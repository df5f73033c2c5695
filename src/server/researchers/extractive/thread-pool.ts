import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { ResearchFailure, type ResearchJob } from "../researcher.js";
import type { Reply, ThreadData } from "./messages.js";

/** Threads that each do one job at a time, with an index of their own that lives on between jobs. */
export class Pool {
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  constructor(
    private readonly data: ThreadData,
    private readonly notice: (line: string) => void,
  ) {}

  /** Runs one job. An abort ends its thread, and with it all its memory; the next job starts a new one. */
  async run(job: ResearchJob, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const worker = this.#idle.pop() ?? this.#start();
    try {
      const reply = await exchange(worker, job, signal, this.notice);
      this.#idle.push(worker);
      worker.unref();
      if (reply.kind === "failure") throw new ResearchFailure(reply.reason);
      return reply.output;
    } catch (error) {
      if (!(error instanceof ResearchFailure)) await this.#end(worker);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((worker) => this.#end(worker)));
  }

  #start(): Worker {
    const worker = new Worker(threadFile(), { workerData: this.data, env: {} });
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

type Result = Exclude<Reply, { kind: "notice" }>;

function exchange(
  worker: Worker,
  job: ResearchJob,
  signal: AbortSignal,
  notice: (line: string) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const done = () => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      signal.removeEventListener("abort", onAbort);
    };
    const onMessage = (reply: Reply) => {
      if (reply.kind === "notice") return notice(reply.line);
      done();
      resolve(reply);
    };
    const onError = (error: unknown) => {
      done();
      reject(error);
    };
    const onExit = () => onError(new Error("the research thread ended by itself"));
    const onAbort = () => onError(signal.reason);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.ref();
    worker.postMessage(job);
  });
}

/** The thread's own bundle. It lies in dist/ both for the bundled program and for the sources beside it. */
function threadFile(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const file of [join(folder, "extractive-worker.js"), join(folder, "dist", "extractive-worker.js")]) {
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) throw new Error("dist/extractive-worker.js is missing: run the build");
  }
}

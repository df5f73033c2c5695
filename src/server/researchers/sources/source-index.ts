import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { threadFile } from "../thread-file.js";
import type { CorpusOptions } from "./corpus.js";
import { RemoteSearch } from "./remote-search.js";
import type { Source, SourceProvider } from "./source.js";

export interface SourceIndexOptions {
  /** The folder whose text files are searched. */
  root: string;
  /** Files and folders that are never read, such as the service's own data. */
  exclude?: readonly string[];
  /** Told once each what could not be read, as a sentence for a person. */
  notice: (line: string) => void;
}

/** One index of a folder in one thread, for any number of other threads. It is made at the first question. */
export class SourceIndex implements SourceProvider {
  readonly #data: CorpusOptions;
  readonly #notice: (line: string) => void;
  readonly #said = new Set<string>();
  #worker: Worker | undefined;
  #search: RemoteSearch | undefined;

  /** Throws if the folder cannot be read or is not a folder. */
  constructor({ root, exclude = [], notice }: SourceIndexOptions) {
    this.#data = { root: realpathSync(root), exclude: exclude.map((path) => resolve(path)) };
    if (!statSync(this.#data.root).isDirectory()) throw new Error("it is not a folder");
    this.#notice = notice;
  }

  /** The port of a new connection, for a RemoteSearch in any thread. It closes if the index's thread ends. */
  connect(): MessagePort {
    this.#worker ??= this.#start();
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(port2, [port2]);
    return port1;
  }

  /** The folder as a source: every research has the same. */
  for(): Source {
    this.#search ??= new RemoteSearch(this.connect());
    return this.#search;
  }

  async close(): Promise<void> {
    this.#search?.close();
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(threadFile("source-index-worker"), { workerData: this.#data, env: {} });
    worker.on("message", (line: string) => {
      if (!this.#said.has(line)) this.#notice(line);
      this.#said.add(line);
    });
    // A thread that dies must not end the service: its connections close, and the next question starts another one.
    worker.on("error", () => {});
    worker.on("exit", () => {
      this.#worker = undefined;
      this.#search = undefined;
    });
    worker.unref();
    return worker;
  }
}

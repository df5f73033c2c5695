import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { errorText } from "../../../text/phrases.js";
import { threadFile } from "../../../threads.js";
import type { CorpusOptions, FolderSearch } from "./corpus.js";
import type { Source, SourceProvider } from "./source.js";

export interface FolderIndexOptions extends CorpusOptions {
  /** Told once each what could not be read, as a sentence for a person. */
  notice: (line: string) => void;
}

/** One index of a folder in one thread, for any number of other threads. It is made at the first question. */
export class FolderIndex implements SourceProvider {
  readonly #data: CorpusOptions;
  readonly #notice: (line: string) => void;
  readonly #said = new Set<string>();
  #worker: Worker | undefined;
  #search: FolderSearch | undefined;

  /** Throws if the folder cannot be read or is not a folder. */
  constructor({ root, exclude = [], notice }: FolderIndexOptions) {
    this.#data = { root: realpathSync(root), exclude: exclude.map((path) => resolve(path)) };
    if (!statSync(this.#data.root).isDirectory()) throw new Error("it is not a folder");
    this.#notice = notice;
  }

  /** The port of a new connection, for `searchThrough` in any thread. It closes if the index's thread ends. */
  connect(): MessagePort {
    this.#worker ??= this.#start();
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(port2, [port2]);
    return port1;
  }

  /** The folder as a source: every research has the same. */
  for(): Source {
    this.#search ??= searchThrough(this.connect());
    return this.#search;
  }

  async close(): Promise<void> {
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

interface Call {
  id: number;
  method: keyof FolderSearch;
  args: never;
}
type Answer = { id: number; value: unknown } | { id: number; error: string };

/** Answers the calls that come in through `port` with what `search` says. */
export function serveSearch(port: MessagePort, search: FolderSearch): void {
  port.on("message", async ({ id, method, args }: Call) => {
    const answer: Answer = await Reflect.apply<FolderSearch, never, Promise<unknown>>(
      search[method],
      search,
      args,
    ).then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: errorText(error) }),
    );
    port.postMessage(answer);
  });
}

/** A search that is done in another thread. A call rejects if that thread has ended, or ends before it has answered. */
export function searchThrough(port: MessagePort): FolderSearch {
  const ended = () => new Error("the thread of the index ended");
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  let isClosed = false;
  port.on("message", (answer: Answer) => {
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) port.unref();
    if ("error" in answer) call?.reject(new Error(answer.error));
    else call?.resolve(answer.value as never);
  });
  port.on("close", () => {
    isClosed = true;
    for (const { reject } of waiting.values()) reject(ended());
    waiting.clear();
  });
  port.unref();
  const call =
    (method: Call["method"]) =>
    (...args: unknown[]) =>
      new Promise<never>((resolve, reject) => {
        if (isClosed) return reject(ended());
        const id = nextId++;
        waiting.set(id, { resolve, reject });
        // A process must not end while it waits for an answer, and must be able to end while it does not.
        port.ref();
        port.postMessage({ id, method, args });
      });
  return {
    search: call("search"),
    tables: call("tables"),
    weights: call("weights"),
    open: call("open"),
    describe: call("describe"),
  };
}

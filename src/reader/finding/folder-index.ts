import { once } from "node:events";
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { errorText } from "../../ground/text/phrases.js";
import { threadFile } from "../../ground/threads.js";
import type { CorpusOptions, FolderSearch } from "./corpus.js";
import type { SourceProvider } from "./source.js";

export interface FolderIndexOptions extends CorpusOptions {
  /** Told once each what could not be read, as a sentence for a person. */
  notice: (line: string) => void;
}

/** What the index of a folder may allocate, MiB: 64 MiB of text, the most that is read, need half of it. */
const INDEX_MIB = 768;

/** One index of a folder in one thread, for any number of other threads. It is made at the first question. */
export class FolderIndex implements SourceProvider {
  readonly #data: CorpusOptions;
  readonly #notice: (line: string) => void;
  readonly #said = new Set<string>();
  #worker: Worker | undefined;
  #search: FolderSearch | undefined;

  /** Throws if the folder cannot be read or is not a folder. */
  constructor({ root, exclude = [], pre = {}, notice }: FolderIndexOptions) {
    this.#data = { root: realpathSync(root), exclude: exclude.map((path) => resolve(path)), pre };
    if (!statSync(this.#data.root).isDirectory()) throw new Error("it is not a folder");
    this.#notice = notice;
  }

  /** The folder as a source: every research has the same. It rejects if the index's thread ends. */
  for(): FolderSearch {
    this.#search ??= this.#connect();
    return this.#search;
  }

  #connect(): FolderSearch {
    this.#worker ??= this.#start();
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(port2, [port2]);
    return searchThrough(port1);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(threadFile("source-index-worker"), {
      workerData: this.#data,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: INDEX_MIB },
    });
    worker.on("message", (line: string) => {
      if (!this.#said.has(line)) this.#notice(line);
      this.#said.add(line);
    });
    // A thread that dies must not end the service: its connections close, and the next question starts another one.
    worker.on("error", ({ message }) => this.#notice(`the index of the sources ended: ${message}`));
    worker.on("exit", () => {
      this.#worker = undefined;
      this.#search = undefined;
    });
    worker.unref();
    return worker;
  }
}

/** Answered by one message through `reply`. */
interface IndexCall {
  method: keyof FolderSearch;
  args: never;
  reply: MessagePort;
}
type IndexAnswer = { value: unknown } | { error: string };

/** Answers the calls that come in through `port` with what `search` says. */
export function serveSearch(port: MessagePort, search: FolderSearch): void {
  port.on("message", async ({ method, args, reply }: IndexCall) => {
    const found = Reflect.apply<FolderSearch, never, Promise<unknown>>(search[method], search, args);
    const answer: IndexAnswer = await found.then(
      (value) => ({ value }),
      (error: unknown) => ({ error: errorText(error) }),
    );
    reply.postMessage(answer);
  });
}

/** A search that is done in another thread. A call rejects if that thread has ended, or ends before it has answered. */
export function searchThrough(port: MessagePort): FolderSearch {
  const call =
    (method: IndexCall["method"]) =>
    async (...args: unknown[]): Promise<never> => {
      const { port1, port2: reply } = new MessageChannel();
      const ended = once(port1, "close").then(() => [{ error: "the thread of the index ended" }]);
      try {
        port.postMessage({ method, args, reply }, [reply]);
        const [answer] = (await Promise.race([once(port1, "message"), ended])) as [IndexAnswer];
        if ("error" in answer) throw new Error(answer.error);
        return answer.value as never;
      } finally {
        port1.close();
      }
    };
  return {
    search: call("search"),
    weights: call("weights"),
    open: call("open"),
    describe: call("describe"),
  };
}

import type { MessagePort } from "node:worker_threads";
import { errorText } from "../../../text/phrases.js";
import type { FolderSearch, Table } from "./folder-search.js";
import type { Description, Hit, Opened, Passage } from "./source.js";

type Method = keyof FolderSearch;
interface Call {
  id: number;
  method: Method;
  args: never;
}
type Answer = { id: number; value: unknown } | { id: number; error: string };

/** Answers the calls that come in through `port` with what `search` says. */
export function serveSearch(port: MessagePort, search: FolderSearch): void {
  port.on("message", async ({ id, method, args }: Call) => {
    try {
      const value: unknown = await Reflect.apply(search[method], search, args);
      port.postMessage({ id, value } satisfies Answer);
    } catch (error) {
      const reason = errorText(error);
      port.postMessage({ id, error: reason } satisfies Answer);
    }
  });
}

/** A search that is done in another thread. A call rejects if that thread ends before it has answered. */
export class RemoteSearch implements FolderSearch {
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #nextId = 1;
  #closed = false;
  constructor(private readonly port: MessagePort) {
    port.on("message", (answer: Answer) => this.#settle(answer));
    port.on("close", () => this.#end());
    port.unref();
  }

  search(query: string, limit: number, kind?: Passage["kind"]): Promise<Hit[]> {
    return this.#call("search", [query, limit, kind]);
  }

  tables(query: string, limit: number): Promise<Table[]> {
    return this.#call("tables", [query, limit]);
  }

  weights(terms: readonly string[]): Promise<number[]> {
    return this.#call("weights", [terms]);
  }

  open(id: string, from: number, to: number): Promise<Opened | undefined> {
    return this.#call("open", [id, from, to]);
  }

  describe(): Promise<Description> {
    return this.#call("describe", []);
  }

  close(): void {
    this.port.close();
  }

  #call<T>(method: Method, args: readonly unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error("the index is closed"));
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      // A process must not end while it waits for an answer, and must be able to end while it does not.
      this.port.ref();
      this.port.postMessage({ id, method, args });
    });
  }

  #settle(answer: Answer): void {
    const call = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.port.unref();
    if ("error" in answer) call?.reject(new Error(answer.error));
    else call?.resolve(answer.value);
  }

  #end(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(new Error("the thread of the index ended"));
    this.#waiting.clear();
  }
}

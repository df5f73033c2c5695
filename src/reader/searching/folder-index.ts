import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ThreadPool } from "../../core/thread-pool.js";
import type { CorpusOptions } from "./folder-corpus.js";
import type { Source, SourceProvider } from "./source.js";

export interface FolderIndexOptions extends CorpusOptions {
  /** Called with a sentence about each part of the folder that could not be read, once per sentence. */
  notice: (line: string) => void;
}

/** A request to the index thread: a method of its Corpus, and the arguments. */
export interface IndexQuestion {
  options: CorpusOptions;
  method: keyof Source;
  args: never;
}
/** `notices`: sentences about parts of the folder that are not searched. */
export type IndexAnswer = { notices: string[] } & ({ value: unknown } | { error: string });

/** The heap limit of the index thread, MiB; the most text that is read, 64 MiB, needs half of it. */
const INDEX_MIB = 768;
/** No time limit, because the first request waits until the whole folder is read. */
const NO_LIMIT = { limitMs: Number.POSITIVE_INFINITY, clock: { sleep: () => new Promise<void>(() => {}) } };
const NEVER = new AbortController().signal;

/**
 * Creates the source of a folder, which all questions share: one index in one thread. The first request starts the
 * thread; if it has ended, the next request starts it again. Throws if `root` is not a folder or cannot be read.
 */
export function createFolderIndex({ root, exclude = [], notice }: FolderIndexOptions): SourceProvider {
  const options = { root: realpathSync(root), exclude: exclude.map((path) => resolve(path)) };
  if (!statSync(options.root).isDirectory()) throw new Error("it is not a folder");
  const sentNotices = new Set<string>();
  const threads = new ThreadPool<IndexQuestion, IndexAnswer>({
    ...{ name: "source-index-worker", most: 1, heapMib: INDEX_MIB },
    ...NO_LIMIT,
  });
  const call =
    (method: IndexQuestion["method"]) =>
    async (...args: unknown[]): Promise<never> => {
      const answer = await threads.ask({ options, method, args: args as never }, NEVER);
      for (const line of answer.notices.filter((notice) => !sentNotices.has(notice))) {
        sentNotices.add(line);
        notice(line);
      }
      if ("error" in answer) throw new Error(answer.error);
      return answer.value as never;
    };
  const source = { search: call("search"), open: call("open"), describe: call("describe") };
  return { for: () => source, close: () => threads.close() };
}

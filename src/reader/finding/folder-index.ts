import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Threads } from "../../core/threads.js";
import type { CorpusOptions } from "./corpus.js";
import type { Source, SourceProvider } from "./source.js";

export interface FolderIndexOptions extends CorpusOptions {
  /** Called once for each thing that could not be read, with a sentence. */
  notice: (line: string) => void;
}

/** A request to the index thread: a method of its Corpus with its arguments. */
export interface IndexQuestion {
  options: CorpusOptions;
  method: keyof Source;
  args: never;
}
/** `notices`: sentences about parts of the folder that are not searched. */
export type IndexAnswer = { notices: string[] } & ({ value: unknown } | { error: string });

/** The heap limit of an index, MiB; 64 MiB of text, the most that is read, need half of it. */
const INDEX_MIB = 768;
/** The first request waits until the whole folder is read. */
const NO_LIMIT = { limitMs: Number.POSITIVE_INFINITY, clock: { sleep: () => new Promise<void>(() => {}) } };
const NEVER = new AbortController().signal;

/**
 * Makes a folder a source that all researches share: one index in one thread, started by the first request and restarted
 * by the next one if it has ended. Throws if the folder cannot be read or is not a folder.
 */
export function createFolderIndex({ root, exclude = [], notice }: FolderIndexOptions): SourceProvider {
  const options = { root: realpathSync(root), exclude: exclude.map((path) => resolve(path)) };
  if (!statSync(options.root).isDirectory()) throw new Error("it is not a folder");
  const sentNotices = new Set<string>();
  const threads = new Threads<IndexQuestion, IndexAnswer>({
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

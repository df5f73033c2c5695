import { Semaphore } from "../../semaphore.js";
import type { Researcher } from "../researcher.js";
import { SourceIndex } from "../sources/source-index.js";
import { ThreadPool } from "./thread-pool.js";

/** More threads than this would wait for the one index. */
const MAX_THREADS = 4;

export interface ExtractiveOptions {
  /** The folder whose text files are searched. */
  sources: string;
  /** Files and folders that are never read, such as the service's own data. */
  exclude?: readonly string[];
  /** How many conversations may be worked on at a time. */
  workers: number;
  /** Told once each what of the folder could not be read. */
  notice: (line: string) => void;
  /** Told where the values of a structured output stand, since the output itself does not say it. */
  log?: (line: string) => void;
}

/** How many places of one output the log names. */
const MAX_PLACES = 20;

/**
 * Researches in the files of a folder: quotes with `file:line`, or a schema filled with what the files say. Throws
 * if the folder cannot be read.
 */
export function extractiveResearcher(options: ExtractiveOptions): Researcher {
  const { sources: root, exclude = [], workers, notice, log } = options;
  const index = new SourceIndex({ root, exclude, notice });
  const pool = new ThreadPool(index);
  const threads = new Semaphore(Math.max(1, Math.min(workers, MAX_THREADS)));
  return {
    async research(job, signal) {
      const release = await threads.take(signal);
      try {
        const { output, sources = [] } = await pool.run(job, signal);
        if (sources.length > 0) log?.(`${job.request_id}: the values are from ${listOf(sources)}`);
        return output;
      } finally {
        release();
      }
    },
    async close() {
      await pool.close();
      await index.close();
    },
  };
}

function listOf(places: readonly string[]): string {
  const more = places.length - MAX_PLACES;
  return `${places.slice(0, MAX_PLACES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

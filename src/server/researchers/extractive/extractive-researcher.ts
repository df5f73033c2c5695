import { realpathSync, statSync } from "node:fs";
import { Semaphore } from "../../semaphore.js";
import type { Researcher } from "../researcher.js";
import { Pool } from "./thread-pool.js";

/** More threads than this would only hold more copies of the same index. */
const MAX_THREADS = 4;

export interface ExtractiveOptions {
  /** The folder whose text files are searched. */
  sources: string;
  /** How many conversations may be worked on at a time. */
  workers: number;
  /** Told once when not all of the folder could be read. */
  notice: (line: string) => void;
}

/**
 * Researches in the files of a folder: quotes with `file:line`, or a schema filled with what the files say. Throws
 * where the folder cannot be read.
 */
export function extractiveResearcher({ sources, workers, notice }: ExtractiveOptions): Researcher {
  const said = new Set<string>();
  const once = (line: string) => {
    if (!said.has(line)) notice(line);
    said.add(line);
  };
  const root = realpathSync(sources);
  if (!statSync(root).isDirectory()) throw new Error("it is not a folder");
  const pool = new Pool({ root }, once);
  const threads = new Semaphore(Math.max(1, Math.min(workers, MAX_THREADS)));
  return {
    async research(job, signal) {
      const release = await threads.take(signal);
      try {
        return await pool.run(job, signal);
      } finally {
        release();
      }
    },
    close: () => pool.close(),
  };
}

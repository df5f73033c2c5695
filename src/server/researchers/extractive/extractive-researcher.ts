import { systemClock } from "../../../clock.js";
import { Semaphore } from "../../semaphore.js";
import { type Researcher, ResearchFailure } from "../researcher.js";
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
  /** How long one research may take, ms: the pattern of a client's schema can take for ever. Default: two minutes. */
  limitMs?: number;
  /** What one research may allocate, MiB. Default: 256. */
  heapMb?: number;
}

const LIMIT_MS = 120_000;
const HEAP_MB = 256;

/** How many places of one output the log names. */
const MAX_PLACES = 20;

/**
 * Researches in the files of a folder: quotes with `file:line`, or a schema filled with what the files say. Throws
 * if the folder cannot be read.
 */
export function extractiveResearcher(options: ExtractiveOptions): Researcher {
  const { sources: root, exclude = [], workers, notice, log, limitMs = LIMIT_MS, heapMb = HEAP_MB } = options;
  const index = new SourceIndex({ root, exclude, notice });
  const pool = new ThreadPool(index, heapMb);
  const threads = new Semaphore(Math.max(1, Math.min(workers, MAX_THREADS)));
  return {
    async research(job, signal) {
      const release = await threads.take(signal);
      const done = new AbortController();
      try {
        const limit = limitSignal(limitMs, done.signal);
        const { output, sources = [] } = await pool.run(job, AbortSignal.any([signal, limit]));
        if (sources.length > 0) log?.(`${job.request_id}: the values are from ${listOf(sources)}`);
        return output;
      } finally {
        done.abort();
        release();
      }
    },
    async close() {
      await pool.close();
      await index.close();
    },
  };
}

/** Aborts with a ResearchFailure after `ms`, unless `done` comes first. */
function limitSignal(ms: number, done: AbortSignal): AbortSignal {
  const limit = new AbortController();
  const failure = new ResearchFailure(`The research took more than ${ms / 1_000} s.`);
  systemClock.sleep(ms, done).then(
    () => limit.abort(failure),
    () => {},
  );
  return limit.signal;
}

function listOf(places: readonly string[]): string {
  const more = places.length - MAX_PLACES;
  return `${places.slice(0, MAX_PLACES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

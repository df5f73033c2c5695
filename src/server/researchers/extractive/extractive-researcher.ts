import type { MessagePort } from "node:worker_threads";
import { type Clock, systemClock } from "../../../clock.js";
import { OverLimit, Threads } from "../../../threads.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../researcher.js";
import { FolderIndex, type FolderIndexOptions } from "../sources/folder-index.js";
import { firstOf } from "../sources/source.js";

/** More threads than this would wait for the one index. */
const MAX_THREADS = 4;

export interface ExtractiveOptions extends FolderIndexOptions {
  /** How many conversations may be worked on at a time. */
  workers: number;
  /** Told where the values of a structured output stand, since the output itself does not say it. */
  log?: (line: string) => void;
  /** Measures how long one research takes. */
  clock?: Pick<Clock, "sleep">;
  /** What one research may allocate, MiB: a client's schema may ask for anything. Default: 256. */
  heapMib?: number;
}

/** How long one research may take: the pattern of a client's schema can take for ever. */
const LIMIT_MS = 120_000;

/** How many places of one output the log names. */
const MAX_PLACES = 20;

/** What a thread is sent: one job, with a connection to the index. */
export interface Request {
  job: ResearchJob;
  index: MessagePort;
}

/** What it answers; `sources` say where the values of a structured output stand, which names none itself. */
export type Reply = { output: unknown; sources?: string[] } | { failure: string };

/**
 * Researches in the files of a folder: quotes with `file:line`, or a schema filled with what the files say. Throws
 * if the folder cannot be read.
 */
export function extractiveResearcher(options: ExtractiveOptions): Researcher {
  const { workers, log, clock = systemClock, heapMib = 256 } = options;
  const folder = new FolderIndex(options);
  const threads = new Threads<Request, Reply>({
    name: "extractive-worker",
    most: Math.max(1, Math.min(workers, MAX_THREADS)),
    keepsIdle: true,
    clock,
    limitMs: LIMIT_MS,
    heapMib,
  });
  return {
    async research(job, signal) {
      const index = folder.connect();
      const reply = await threads
        .ask({ job, index }, signal, { transfer: [index] })
        .catch((error: unknown) => {
          throw error instanceof OverLimit ? new ResearchFailure(`The research ${error.message}.`) : error;
        })
        .finally(() => index.close());
      if ("failure" in reply) throw new ResearchFailure(reply.failure);
      const { output, sources = [] } = reply;
      if (sources.length > 0) log?.(`${job.request_id}: the values are from ${firstOf(sources, MAX_PLACES)}`);
      return output;
    },
    async close() {
      await Promise.all([threads.close(), folder.close()]);
    },
  };
}

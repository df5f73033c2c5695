import type { MessagePort } from "node:worker_threads";
import type { ResearchJob } from "../researcher.js";

/** What the thread is sent: one job at a time, with a connection to the index. */
export interface Request {
  job: ResearchJob;
  index: MessagePort;
}

/** What it answers. */
export type Reply =
  /** `sources`: where the values of a structured output stand, as in `docs/a.md:12`; it names none itself. */
  { kind: "output"; output: unknown; sources?: string[] } | { kind: "failure"; reason: string };

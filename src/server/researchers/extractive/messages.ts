import type { ResearchJob } from "../researcher.js";

/** What the thread is started with. */
export interface ThreadData {
  /** The folder to read, as an absolute path. */
  root: string;
}

/** What the thread is sent: one job at a time. */
export type Request = ResearchJob;

/** What it answers, a notice or two before the rest perhaps. */
export type Reply =
  | { kind: "notice"; line: string }
  | { kind: "output"; output: unknown }
  | { kind: "failure"; reason: string };

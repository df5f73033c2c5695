import type { JsonSchema } from "./protocol/conversation.js";

/** The question of one conversation, with the field names of §2. A command researcher gets exactly this as JSON. */
export interface ResearchJob {
  request_id: string;
  prompt: string;
  structured_output: boolean;
  output_schema?: JsonSchema;
}

/** A worker's right to work on one conversation, which is PROCESSING as long as the worker has the claim. */
export interface Claim {
  readonly job: ResearchJob;
  /** How often the conversation was claimed, including this claim, but not claims that were given back. */
  readonly starts: number;
  /** Aborted as soon as the conversation is stopped, or another worker takes over the claim. */
  readonly signal: AbortSignal;
}

/** The progress of the research for one question, as in the status data. Counts refer to the whole question. */
export interface Progress {
  step: "plan" | "search" | "read" | "note" | "write";
  /** The number of finished items in this step, out of `of` items planned so far: "reading 7 of 12". */
  done: number;
  of: number;
  pages: number;
  calls: number;
  tokens: number;
}

/** What the research for one question has consumed, as in the output data. */
export interface Usage {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_dollars?: number;
}

/** A source that a result cites, in the form of the output data. */
export type CitedSource = { title: string; url: string } | { title: string; file: string };

/** What a researcher reports besides the output. Each later report replaces the parts that it contains. */
export interface ResearchUpdate {
  progress?: Progress;
  usage?: Usage;
  sources?: CitedSource[];
  [more: string]: unknown;
}

/** What a budget needs to know about a researcher. */
export interface ResearcherFacts {
  model?: string | undefined;
  /** False if the research costs money and the researcher does not report how much. */
  saysDollars?: boolean | undefined;
}

/** Does the research for the service. */
export interface Researcher {
  readonly facts?: ResearcherFacts;
  /**
   * Resolves with the output: text, or any JSON value if `structured_output` is set; a JsonText is passed on unchanged.
   * Rejects with a ResearchFailure if the research fails. After an abort, soon ends all its work and then rejects with
   * `signal.reason`. While it runs, it calls `tell` whenever something changes; `tell` must neither throw nor wait. `claim`
   * is the right to work on the job, for a researcher that may send a request only once.
   */
  research(
    job: ResearchJob,
    signal: AbortSignal,
    tell?: (news: ResearchUpdate) => void,
    claim?: Claim,
  ): Promise<unknown>;
  /** The ways to claim a conversation, each in its own loop; default: the store's. `resumed`: already running, so no worker limit applies. */
  readonly claims?: readonly { claim(signal: AbortSignal): Promise<Claim>; resumed: boolean }[];
  /** Whether to accept a result that does not fit the schema, because the user has already paid for it. */
  readonly takesMisfits?: boolean;
  /** Frees what the jobs share. Call it after all jobs have ended. */
  close(): Promise<void>;
}

/** Thrown by a researcher if the research fails. The client sees the message. */
export class ResearchFailure extends Error {
  override name = "ResearchFailure";
}

/** Stores a researcher's exchanges with models and the web, so that a restarted service does not repeat or pay for them twice. */
export interface ExchangeStore {
  /** Returns the records of a conversation in the order of `append`; empty if it has no records. */
  read(requestId: string): Promise<unknown[]>;
  /** Adds a JSON object. Resolves when the record would survive a `kill -9`. Drops records of a stopped conversation (§3). */
  append(requestId: string, record: object): Promise<void>;
}

import type { JsonSchema } from "./protocol/conversation.js";

/** The question of one conversation, with the field names of §2. A command researcher gets exactly this as JSON. */
export interface ResearchJob {
  request_id: string;
  prompt: string;
  structured_output: boolean;
  output_schema?: JsonSchema;
}

/** The right to work on one conversation. The conversation is PROCESSING while a worker holds its claim. */
export interface Claim {
  readonly job: ResearchJob;
  /** How often the conversation was claimed, including this claim and excluding claims that were given back. */
  readonly starts: number;
  /** Aborted as soon as the conversation is stopped, or another worker takes over the claim. */
  readonly signal: AbortSignal;
}

/** The progress of a research, as in the status data. All counts are totals of the whole research. */
export interface Progress {
  step: "plan" | "search" | "read" | "note" | "write";
  /** The number of finished things in this step, out of `of` things planned so far: "reading 7 of 12". */
  done: number;
  of: number;
  pages: number;
  calls: number;
  tokens: number;
}

/** What a research has consumed, as in the output data. */
export interface Usage {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_dollars?: number;
}

/** A source that a result cites, as in the output data. */
export type CitedSource = { title: string; url: string } | { title: string; file: string };

/** What a researcher reports beside the output. Later news replaces the parts that it contains. */
export interface ResearchNews {
  progress?: Progress;
  usage?: Usage;
  sources?: CitedSource[];
  [more: string]: unknown;
}

/** The facts about a researcher that a budget needs. */
export interface ResearchFacts {
  model?: string | undefined;
  /** False if the research costs something and the researcher does not report how much. */
  saysDollars?: boolean | undefined;
}

/** The part behind the service that does the research. */
export interface Researcher {
  readonly facts?: ResearchFacts;
  /**
   * Resolves with the output: text, or any JSON value if `structured_output` is set; a JsonText is passed on as it is.
   * Rejects with a ResearchFailure if the research fails, and with `signal.reason` soon after an abort; then nothing is
   * left running. Calls `tell` whenever something changes, until it settles; `tell` must neither throw nor wait.
   * `claim` is the right to work on the job, for a researcher that may send a request only once.
   */
  research(
    job: ResearchJob,
    signal: AbortSignal,
    tell?: (news: ResearchNews) => void,
    claim?: Claim,
  ): Promise<unknown>;
  /** The ways to claim a conversation, each in its own loop; default: the store's. `resumed`: already running, so the worker limit does not apply. */
  readonly claims?: readonly { claim(signal: AbortSignal): Promise<Claim>; resumed: boolean }[];
  /** Whether to accept a result that does not fit the schema, because the user has paid for it elsewhere. */
  readonly takesMisfits?: boolean;
  /** Frees what all jobs share. Call it after every job has ended. */
  close(): Promise<void>;
}

/** A researcher throws this if the research fails; the client may read the message. */
export class ResearchFailure extends Error {
  override name = "ResearchFailure";
}

/** Stores a researcher's exchanges with a model, so that a restarted service pays for no exchange twice. */
export interface ExchangeStore {
  /** Returns the records of a conversation in the order of `append`; empty if it has no records. */
  read(requestId: string): Promise<unknown[]>;
  /** Adds a JSON object. Resolves when the record survives a `kill -9`; drops the record of a stopped conversation (§3). */
  append(requestId: string, record: object): Promise<void>;
}

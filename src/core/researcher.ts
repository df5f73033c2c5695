import type { JsonSchema } from "./protocol/conversation.js";

/** One conversation's question, in the words of §2. A command researcher gets exactly this as JSON. */
export interface ResearchJob {
  request_id: string;
  prompt: string;
  structured_output: boolean;
  output_schema?: JsonSchema;
}

/** The right to work on one conversation, which is PROCESSING meanwhile. */
export interface Claim {
  readonly job: ResearchJob;
  /** How often the conversation was claimed, this time included and those given back excluded. */
  readonly starts: number;
  /** Aborted as soon as the conversation is stopped, or the claim is lost to another worker. */
  readonly signal: AbortSignal;
}

/** How far a research is, as status data carries it. All counts are of the research as a whole. */
export interface Progress {
  step: "plan" | "search" | "read" | "note" | "write";
  /** Of `of` things to do in this step, as far as they are known: "reading 7 of 12". */
  done: number;
  of: number;
  pages: number;
  calls: number;
  tokens: number;
}

/** What a research has used, as output data carries it. */
export interface Usage {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_dollars?: number;
}

/** A source that a result cites, as output data carries it. */
export type CitedSource = { title: string; url: string } | { title: string; file: string };

/** What is seen of a research beside its output. A later piece of news replaces the parts that it has. */
export interface ResearchNews {
  progress?: Progress;
  usage?: Usage;
  sources?: CitedSource[];
  [more: string]: unknown;
}

/** What a budget needs to know of those who do the research. */
export interface ResearchFacts {
  model?: string | undefined;
  /** False: it costs something, and does not say what. */
  saysDollars?: boolean | undefined;
}

/** What does the research behind the service. */
export interface Researcher {
  readonly facts?: ResearchFacts;
  /**
   * Resolves with the output: text, or any JSON value where `structured_output` is set; as JsonText, the text of
   * that value is passed on as it is. Rejects with a
   * ResearchFailure when there is none, and with `signal.reason`, nothing left running, soon after an abort.
   * `tell` gets news at any time before that, as often as something changes; it must neither throw nor wait.
   * `claim` is the right to work on it, for what may be sent once only.
   */
  research(
    job: ResearchJob,
    signal: AbortSignal,
    tell?: (news: ResearchNews) => void,
    claim?: Claim,
  ): Promise<unknown>;
  /** How conversations are claimed, each way by itself; default: as the store does. `resumed`: it is under way, and claimed past any limit. */
  readonly claims?: readonly { claim(signal: AbortSignal): Promise<Claim>; resumed: boolean }[];
  /** Whether a result that does not fit the schema is one all the same: it was paid for elsewhere. */
  readonly takesMisfits?: boolean;
  /** Frees what all jobs share. No job runs any more when this is called. */
  close(): Promise<void>;
}

/** The research came to no result, for a reason that the client may read. */
export class ResearchFailure extends Error {
  override name = "ResearchFailure";
}

/** What a researcher keeps of its exchanges with a model, so that a restarted service pays for none of them twice. */
export interface ExchangeStore {
  /** The records of a conversation, in their order; empty if there are none. */
  read(requestId: string): Promise<unknown[]>;
  /** Adds a JSON object. Resolves when it would outlive a `kill -9`; of a stopped conversation nothing is kept (§3). */
  append(requestId: string, record: object): Promise<void>;
}

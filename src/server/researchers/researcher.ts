import type { JsonSchema } from "../../protocol/conversation.js";

/** One conversation's question, in the words of §2. A command researcher gets exactly this as JSON. */
export interface ResearchJob {
  request_id: string;
  prompt: string;
  structured_output: boolean;
  output_schema?: JsonSchema;
}

/** What does the research behind the service. */
export interface Researcher {
  /**
   * Resolves with the output: text, or any JSON value where `structured_output` is set; as JsonText, the text of
   * that value is passed on as it is. Rejects with a
   * ResearchFailure when there is none, and with `signal.reason`, nothing left running, soon after an abort.
   */
  research(job: ResearchJob, signal: AbortSignal): Promise<unknown>;
  /** Frees what all jobs share. No job runs any more when this is called. */
  close(): Promise<void>;
}

/** The research came to no result, for a reason that the client may read. */
export class ResearchFailure extends Error {
  override name = "ResearchFailure";
}

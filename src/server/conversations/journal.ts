import type { KnownStatus } from "../../protocol/conversation.js";
import type { HourlyLimit } from "../../protocol/limits.js";
import type { ResearchJob } from "../researchers/researcher.js";

/** What has to outlive the process. */
export type Entry =
  | { kind: "created"; created_at: string; job: ResearchJob; key: string; at: number }
  | {
      kind: "ended";
      request_id: string;
      status: KnownStatus;
      completed_at?: string;
      output?: unknown;
      reason?: string;
    }
  | { kind: "counted"; operation: keyof HourlyLimit; key: string; at: number };

/** Where entries go before anything is acknowledged. */
export interface Journal {
  /** Resolves when `entry` would outlive a `kill -9`. */
  append(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

/** The journal of a service that lives in memory only. */
export const noJournal: Journal = {
  append: async () => {},
  close: async () => {},
};

import type { Status } from "../../../core/protocol/conversation.js";
import type { Success } from "../classify-response.js";
import type { WatchTarget } from "./types.js";

/** One id on its way. Times are monotonic milliseconds. */
export interface Watched extends WatchTarget {
  status: Status | null;
  /** The last poll that succeeded, if its answer was kept. */
  last?: Success | undefined;
  /** What the service said of its progress last, as JSON. */
  progress?: string | undefined;
  /** Since when it has been watched. */
  since: number;
  polls: number;
  /** When the newest poll started; -Infinity before the first one. */
  startedAt: number;
  /** Whether the newest poll was the last one before the deadline. */
  hadLastPoll: boolean;
  /** Polls that failed since the last one that did not. */
  failures: number;
  /** Since when no poll has succeeded, moved on by every wait that the service asked for. */
  quietSince: number;
  /** No poll before this, because the service said so. */
  notBefore: number;
  /** Since when it is in its state. */
  statusSince?: number;
  /** Whether it was said that it is stuck. */
  isStuck?: boolean;
}

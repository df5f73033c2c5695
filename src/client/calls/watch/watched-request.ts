import type { Status } from "../../../core/protocol/conversation.js";
import type { Success } from "../classify-response.js";
import type { WatchTarget } from "./watch-types.js";

/** The state of one id in a watch. Times are monotonic milliseconds. */
export interface WatchedRequest extends WatchTarget {
  status: Status | null;
  /** The last successful poll, if its answer was kept. */
  last?: Success | undefined;
  /** The last progress that the service reported, as JSON. */
  progress?: string | undefined;
  /** When the watch of this id began. */
  since: number;
  polls: number;
  /** When the newest poll started; -Infinity before the first one. */
  startedAt: number;
  /** Whether the newest poll was the last one before the deadline. */
  hadLastPoll: boolean;
  /** The number of failed polls since the last success. */
  failures: number;
  /** When the last poll succeeded, plus the waits that the service has asked for since; patience counts from here. */
  quietSince: number;
  /** The earliest time at which the service allows the next poll. */
  notBefore: number;
  /** When the id entered its state. */
  statusSince?: number;
  /** Whether the watch has reported that the request is stuck. */
  isStuck?: boolean;
}

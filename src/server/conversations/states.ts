import { canStop, type KnownStatus } from "../../protocol/conversation.js";

/** What can happen to a conversation: stop by its client (§3), the others by the service itself. */
export type Trigger = "start" | "complete" | "fail" | "stop";

/**
 * The state machine of §3: the next state, or undefined if the move is not permitted. §3 leaves the service's
 * own moves open; here they go PENDING -> PROCESSING -> COMPLETED or FAILED and never back.
 */
export function nextStatus(status: KnownStatus, trigger: Trigger): KnownStatus | undefined {
  switch (trigger) {
    case "start":
      return status === "PENDING" ? "PROCESSING" : undefined;
    case "complete":
      return status === "PROCESSING" ? "COMPLETED" : undefined;
    case "fail":
      return status === "PROCESSING" ? "FAILED" : undefined;
    case "stop":
      return canStop(status) ? "STOPPED" : undefined;
  }
}

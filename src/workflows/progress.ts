import type { ResearchError } from "../client/errors.js";
import { isFinal, type Status } from "../protocol/conversation.js";
import type { FollowEvent } from "./follow.js";

/** How a followed request stands; `status` is the last state seen, null if none was. */
export type Outcome = { requestId: string; status: Status | null } & (
  | { kind: "running" }
  | { kind: "final" }
  | { kind: "given-up"; error: ResearchError }
  /** `limit`: the time for the whole, or for being PENDING. */
  | { kind: "timeout"; limit: "whole" | "queue" }
);

/** What the events of a follow come to, for each request. */
export class Progress {
  readonly #outcomes: Map<string, Outcome>;

  constructor(requestIds: Iterable<string>) {
    const running = (requestId: string): Outcome => ({ requestId, status: null, kind: "running" });
    this.#outcomes = new Map([...requestIds].map((id) => [id, running(id)]));
  }

  /** Takes an event in; those that change nothing of a request are ignored. */
  apply(event: FollowEvent): void {
    if (event.kind === "state") {
      const { requestId, status } = event;
      this.#outcomes.set(requestId, { requestId, status, kind: isFinal(status) ? "final" : "running" });
    } else if (event.kind === "given-up") {
      const { requestId, status, error } = event;
      this.#outcomes.set(requestId, { requestId, status, kind: "given-up", error });
    } else if (event.kind === "timeout") {
      const { requestId, status, limit } = event;
      this.#outcomes.set(requestId, { requestId, status, kind: "timeout", limit });
    }
  }

  /** One for each request, in the order given. */
  get outcomes(): Outcome[] {
    return [...this.#outcomes.values()];
  }

  /** The requests that are still followed. */
  get running(): Outcome[] {
    return this.outcomes.filter(({ kind }) => kind === "running");
  }
}

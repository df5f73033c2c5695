import type { Clock } from "../../../clock.js";
import { isFinal } from "../../../protocol/conversation.js";
import type { KeyedMutex } from "../../keyed-mutex.js";
import type { Claim, RemoteRequest, RemoteRequests } from "../conversation-store.js";
import type { RemoteEntry } from "./journal/entries.js";
import type { LocalState } from "./local-state.js";

interface Parts {
  state: LocalState;
  clock: Clock;
  /** Of each conversation; its stop is one too. */
  changes: KeyedMutex;
  holds(claim: Claim): boolean;
  append(entry: RemoteEntry): Promise<void>;
}

/** Requests at another service, in the journal of one process. */
export class LocalRemote implements RemoteRequests {
  /** Cancellations that somebody works on, by when they are due again (monotonic ms). */
  readonly #hidden = new Map<string, number>();
  constructor(private readonly parts: Parts) {}

  async read(requestId: string) {
    const entry = this.parts.state.rows.get(requestId)?.remote;
    return entry && { ...remoteOf(entry), mayComeMs: 0 };
  }

  begin(claim: Claim, { at, provider, canStop }: Omit<RemoteRequest, "remoteId">): Promise<boolean> {
    const { append, changes, holds, state } = this.parts;
    const { request_id } = claim.job;
    return changes.run(request_id, async () => {
      if (!holds(claim) || state.rows.get(request_id)?.remote !== undefined) return false;
      await append({ kind: "remote", request_id, at, provider, can_stop: canStop });
      return true;
    });
  }

  keep({ job: { request_id } }: Claim, remote_id: string) {
    const { append, changes, state } = this.parts;
    return changes.run(request_id, async () => {
      const { remote, status } = state.rows.get(request_id) ?? {};
      if (remote === undefined || (status && status !== "STOPPED" && isFinal(status))) return "ended";
      const stopped = status === "STOPPED";
      await append({ ...remote, remote_id, ...(stopped && { cancel: true }) });
      return stopped ? "stopped" : "kept";
    });
  }

  async takeCancellation(at: string, forMs: number) {
    const { clock, state } = this.parts;
    const now = clock.monotonic();
    for (const requestId of state.cancellations) {
      const { remote } = state.rows.get(requestId) ?? {};
      if (remote?.at !== at || (this.#hidden.get(requestId) ?? now) > now) continue;
      this.#hidden.set(requestId, now + forMs);
      return { requestId, remoteId: remote.remote_id ?? "", provider: remote.provider };
    }
    return undefined;
  }

  async cancelled(requestId: string): Promise<void> {
    const { remote } = this.parts.state.rows.get(requestId) ?? {};
    if (remote !== undefined) await this.parts.append({ ...remote, cancel: false });
    this.#hidden.delete(requestId);
  }
}

/** A request at another service, as the journal has it. */
export function remoteOf({ at, provider, can_stop: canStop, remote_id }: RemoteEntry): RemoteRequest {
  return { at, provider, canStop, ...(remote_id !== undefined && { remoteId: remote_id }) };
}

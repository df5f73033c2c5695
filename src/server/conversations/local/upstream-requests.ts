import type { Clock } from "../../../core/clock.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import {
  type Claim,
  type DayLimit,
  NOT_SENT,
  type RemoteRequest,
  type RemoteRequests,
  WAIT_LIMIT_MS,
} from "../conversation-store.js";
import {
  advanceGate,
  type CreateAnswer,
  type CreateGate,
  findGateRefusal,
  OPEN,
  PROBE_MS,
} from "../create-gate.js";
import type { JournalEntry, RemoteEntry } from "./journal-entries.js";
import type { JournalWriter } from "./journal-writer.js";
import type { LocalClaims } from "./local-claims.js";
import type { LocalState, StoredConversation } from "./local-state.js";

interface RemoteParts {
  state: LocalState;
  claims: LocalClaims;
  writes: JournalWriter;
  clock: Clock;
}

/** Tracks the requests at the upstream service for a store of a single process. */
export class LocalUpstreamRequests implements RemoteRequests {
  /** For each cancellation in progress, the time (monotonic ms) from which it may be taken again. */
  readonly #hidden = new Map<string, number>();
  /** Stopped conversations for which it will stay unknown whether their create call succeeded. */
  readonly #lost: StoredConversation[];
  /** The time (monotonic ms) from which the next create call may be tried. */
  #nextAt: number;
  /** Number of changes of the gate. `#changesAt`: that number when each claim was made. */
  #changes = 0;
  readonly #changesAt = new WeakMap<Claim, number>();

  constructor(private readonly parts: RemoteParts) {
    const { clock, state } = parts;
    this.#lost = [...state.rows.values()].filter(isLostCreate);
    const { gate, at = 0 } = state.gate ?? {};
    const left = gate ? Math.min(gate.waitMs, at + gate.waitMs - clock.now()) : 0;
    this.#nextAt = clock.monotonic() + left;
  }

  async read(requestId: string) {
    const entry = this.#findEntry(requestId);
    return entry && { ...buildRemoteRequest(entry), mayComeMs: 0 };
  }

  async claim(which: "begun" | "new", signal: AbortSignal): Promise<Claim> {
    const { claims, clock } = this.parts;
    if (which === "begun") {
      const { row, claim } = await claims.claimBegun(signal);
      if (row.remote?.remote_id) row.startedAt ??= clock.now();
      return claim;
    }
    for (;;) {
      const { row, claim } = await claims.claimUnsent(signal, () => this.measureClosed());
      if (this.#isTooOld(row)) {
        // `expire` ends this conversation.
        claims.release(row.requestId);
        continue;
      }
      if (this.#isRefused()) this.#nextAt = clock.monotonic() + PROBE_MS;
      this.#changesAt.set(claim, this.#changes);
      return claim;
    }
  }

  begin(claim: Claim, { at, provider, canStop }: Omit<RemoteRequest, "remoteId">, day?: DayLimit) {
    const { claims, clock, state, writes } = this.parts;
    const { request_id } = claim.job;
    return writes.changes.run(request_id, async () => {
      if (!claims.isHolding(claim) || this.#findEntry(request_id) !== undefined) return false;
      const entries: JournalEntry[] = [{ kind: "remote", request_id, at, provider, can_stop: canStop }];
      if (day) {
        const now = clock.now();
        const fullMs = state.computeFullMs(day, now);
        if (fullMs > 0) return { fullMs };
        const sent = { kind: "sent", request_id, account: day.account, at: now } as const;
        // Count the create call before the write, because other create calls may be counted during the write.
        state.apply(sent);
        entries.push(sent);
      }
      await writes.append(entries).catch((error) => {
        state.apply({ kind: "unsent", request_id });
        throw error;
      });
      return true;
    });
  }

  keep({ job: { request_id } }: Claim, remote_id: string): Promise<"kept" | "stopped" | "ended"> {
    const { clock, state, writes } = this.parts;
    return writes.changes.run(request_id, async () => {
      const { remote, status } = state.rows.get(request_id) ?? {};
      if (remote === undefined || (status && status !== "STOPPED" && isFinal(status))) return "ended";
      const stopped = status === "STOPPED";
      await writes.append([{ ...remote, remote_id, ...(stopped && { cancel: true }) }]);
      const row = state.rows.get(request_id);
      if (row) row.startedAt ??= clock.now();
      return stopped ? "stopped" : "kept";
    });
  }

  release(claim: Claim, reason?: string): Promise<void> {
    const { claims, writes } = this.parts;
    const { request_id } = claim.job;
    return writes.changes.run(request_id, async () => {
      if (this.#findEntry(request_id)?.remote_id !== undefined) return;
      await writes.append([{ kind: "released", request_id, reason }]);
      if (claims.isHolding(claim)) claims.putBack(request_id);
    });
  }

  async takeLost() {
    const [row] = this.#lost;
    if (row?.remote === undefined) return undefined;
    await this.parts.writes.append([{ ...row.remote, lost: true }]);
    this.#lost.shift();
    return { requestId: row.requestId, provider: row.remote.provider };
  }

  async expire(): Promise<void> {
    const { claims, state, writes } = this.parts;
    for (const { requestId } of [...state.rows.values()].filter((row) => this.#isTooOld(row)))
      await writes.changes.run(requestId, async () => {
        const row = state.rows.get(requestId);
        if (row?.status !== "PENDING" || row.remote || claims.isHeld(requestId)) return;
        const reason = NOT_SENT + (row.reason ?? state.gate?.gate.reason ?? "");
        await writes.append([await writes.endOf(row, { status: "FAILED", reason: reason.trim() })]);
        claims.noteStopped(row);
      });
  }

  async takeCancellation(at: string, forMs: number) {
    const now = this.parts.clock.monotonic();
    for (const requestId of this.parts.state.cancellations) {
      const remote = this.#findEntry(requestId);
      if (remote?.at !== at || (this.#hidden.get(requestId) ?? now) > now) continue;
      this.#hidden.set(requestId, now + forMs);
      return { requestId, remoteId: remote.remote_id ?? "", provider: remote.provider };
    }
    return undefined;
  }

  async noteCancelled(requestId: string): Promise<void> {
    const remote = this.#findEntry(requestId);
    if (remote !== undefined) await this.parts.writes.append([{ ...remote, cancel: false }]);
    this.#hidden.delete(requestId);
  }

  async noteAnswered(claim: Claim, answer: CreateAnswer): Promise<void> {
    const { clock, state, writes } = this.parts;
    const { request_id } = claim.job;
    const row = state.rows.get(request_id);
    if (answer.kind === "unknown" && row && isLostCreate(row)) this.#lost.push(row);
    if (answer.kind === "open" && answer.isRefused && state.sent.has(request_id))
      await writes.append([{ kind: "unsent", request_id }]);
    const gate = advanceGate(this.#readGate(), answer, this.#changesAt.get(claim) !== this.#changes);
    if (gate === OPEN && (state.gate?.gate ?? OPEN) === OPEN) return;
    this.#changes += 1;
    this.#nextAt = clock.monotonic() + gate.waitMs;
    await writes.append([{ kind: "gate", at: clock.now(), gate }]);
  }

  async findRefusal(keyId: string) {
    const { claims } = this.parts;
    if (!this.#isRefused()) return undefined;
    return findGateRefusal(this.#readGate(), {
      ofKey: claims.countWaiting(keyId),
      ofAll: claims.countWaiting(),
    });
  }

  /** Returns the ms until the next create call may be tried; 0 or less if it may be tried now. */
  measureClosed(): number {
    return this.#isRefused() ? this.#nextAt - this.parts.clock.monotonic() : 0;
  }

  #findEntry(requestId: string): RemoteEntry | undefined {
    return this.parts.state.rows.get(requestId)?.remote;
  }

  #isRefused(): boolean {
    return this.parts.state.gate?.gate.kind !== undefined;
  }

  #readGate(): CreateGate {
    const gate = this.parts.state.gate?.gate ?? OPEN;
    return { ...gate, waitMs: Math.max(0, this.#nextAt - this.parts.clock.monotonic()) };
  }

  #isTooOld({ createdAt }: StoredConversation): boolean {
    return this.parts.clock.now() - createdAt > WAIT_LIMIT_MS;
  }
}

/** Returns whether a conversation was stopped while the outcome of its create call was unknown, and the log does not say so yet. */
function isLostCreate({ status, remote }: StoredConversation): boolean {
  return status === "STOPPED" && remote !== undefined && !remote.remote_id && !remote.lost;
}

/** Converts an entry of the journal. */
export function buildRemoteRequest(entry: RemoteEntry): RemoteRequest {
  return { at: entry.at, provider: entry.provider, canStop: entry.can_stop, remoteId: entry.remote_id };
}

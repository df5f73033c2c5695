/** What the answer to a create at another service says of other creates there. */
export type CreateAnswer =
  /** It was taken, or refused for what it asks. */
  | { kind: "open"; isRefused?: boolean }
  | {
      /** "limit": too many, or that place is away. "account": its people have to mend it. "unknown": it may have created. */
      kind: "limit" | "account" | "unknown";
      /** A sentence for clients, with the name of that place. */
      reason: string;
      /** How long that place asks to wait, ms. */
      retryAfterMs?: number | undefined;
      /** How many of one key may wait at a limit. */
      atOnce: number;
    };

/** Why no new conversation is taken. */
export interface Refused {
  reason: string;
  retryAfterMs: number;
}

/** What is known of creates at another service; without a `kind` they are sent. */
export interface Gate {
  kind?: "limit" | "account" | "unknown";
  reason: string;
  atOnce: number;
  /** How often in a row a try was refused. */
  failures: number;
  /** Outcomes in a row that are not known. */
  unknowns: number;
  /** When the next one may be tried, ms from now. */
  waitMs: number;
}

export const OPEN: Gate = { reason: "", atOnce: 0, failures: 0, unknowns: 0, waitMs: 0 };

/** Between two tries at an account that does not work; a try that was not answered holds others up for so long, ms. */
export const PROBE_MS = 60_000;
/** Between two tries at a limit that does not say how long it lasts: doubled each time, up to the longest, ms. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
/** A limit that asks for no wait gets one all the same, ms. */
const LEAST_WAIT_MS = 1_000;
const UNKNOWNS = 3;

/** The gate after an answer. `isStale`: another answer has changed the gate since that create was sent. */
export function advanceGate(gate: Gate, answer: CreateAnswer, isStale: boolean): Gate {
  const { kind } = answer;
  if (kind === "open") return isStale && gate.kind ? { ...gate, unknowns: 0 } : OPEN;
  const unknowns = kind === "unknown" ? gate.unknowns + 1 : 0;
  if (kind === "unknown" && unknowns < UNKNOWNS) return { ...gate, unknowns };
  const { reason, atOnce, retryAfterMs } = answer;
  const before = gate.kind === kind ? gate.failures : 0;
  // Creates that were under way together are one try.
  const failures = isStale && before > 0 ? before : before + 1;
  const growing = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
  const gateMs = kind === "limit" ? Math.max(LEAST_WAIT_MS, retryAfterMs ?? growing) : PROBE_MS;
  const waitMs = isStale ? Math.max(gateMs, gate.waitMs) : gateMs;
  return { kind, reason, atOnce, failures, unknowns, waitMs };
}

/** Whether a new conversation is refused; `waiting`: how many of its key, and of all keys, wait to be sent. */
export function findRefusal(gate: Gate, waiting: { ofKey: number; ofAll: number }): Refused | undefined {
  const { kind, reason, atOnce, waitMs } = gate;
  const refuses =
    kind === "limit" ? waiting.ofKey >= atOnce : waitMs > 0 || (kind === "account" && waiting.ofAll > 0);
  return kind && refuses ? { reason, retryAfterMs: Math.max(LEAST_WAIT_MS, waitMs) } : undefined;
}

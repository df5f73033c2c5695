/** What the answer to a create call at an upstream service means for later create calls there. */
export type CreateAnswer =
  /** The service accepted the create call, or refused its content. */
  | { kind: "open"; isRefused?: boolean }
  | {
      /** "limit": too many create calls, or the service is away. "account": its owner must act. "unknown": it may have created something. */
      kind: "limit" | "account" | "unknown";
      /** A sentence for clients that names the upstream service. */
      reason: string;
      /** Milliseconds that the service asks to wait. */
      retryAfterMs?: number | undefined;
      /** Maximum number of conversations of one key that may wait during a limit. */
      atOnce: number;
    };

/** Why new conversations are refused, and for how long. */
export interface Refused {
  reason: string;
  retryAfterMs: number;
}

/** Whether create calls are sent to the upstream service. The gate is open if `kind` is undefined. */
export interface CreateGate {
  kind?: "limit" | "account" | "unknown";
  reason: string;
  atOnce: number;
  /** Number of refused attempts in a row. */
  failures: number;
  /** Number of unknown outcomes in a row. */
  unknowns: number;
  /** Milliseconds until the next attempt. */
  waitMs: number;
}

export const OPEN: CreateGate = { reason: "", atOnce: 0, failures: 0, unknowns: 0, waitMs: 0 };

/** Interval between attempts at a failing account, and how long an unanswered attempt blocks others, in ms. */
export const PROBE_MS = 60_000;
/** Interval between attempts at a limit without `Retry-After`, in ms. Each is twice as long as the last, up to the longest. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
/** Minimum wait at a limit, in ms. */
const LEAST_WAIT_MS = 1_000;
const UNKNOWNS = 3;

/** Returns the gate after an answer. `isStale`: whether another answer changed the gate after this create call was sent. */
export function advanceGate(gate: CreateGate, answer: CreateAnswer, isStale: boolean): CreateGate {
  const { kind } = answer;
  if (kind === "open") return isStale && gate.kind ? { ...gate, unknowns: 0 } : OPEN;
  const unknowns = kind === "unknown" ? gate.unknowns + 1 : 0;
  if (kind === "unknown" && unknowns < UNKNOWNS) return { ...gate, unknowns };
  const { reason, atOnce, retryAfterMs } = answer;
  const before = gate.kind === kind ? gate.failures : 0;
  // Create calls that ran at the same time count as one attempt.
  const failures = isStale && before > 0 ? before : before + 1;
  const growing = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
  const gateMs = kind === "limit" ? Math.max(LEAST_WAIT_MS, retryAfterMs ?? growing) : PROBE_MS;
  const waitMs = isStale ? Math.max(gateMs, gate.waitMs) : gateMs;
  return { kind, reason, atOnce, failures, unknowns, waitMs };
}

/** Returns why a new conversation is refused; undefined if it is accepted. `waiting`: numbers of conversations that wait to be sent. */
export function findGateRefusal(
  gate: CreateGate,
  waiting: { ofKey: number; ofAll: number },
): Refused | undefined {
  const { kind, reason, atOnce, waitMs } = gate;
  const refuses =
    kind === "limit" ? waiting.ofKey >= atOnce : waitMs > 0 || (kind === "account" && waiting.ofAll > 0);
  return kind && refuses ? { reason, retryAfterMs: Math.max(LEAST_WAIT_MS, waitMs) } : undefined;
}

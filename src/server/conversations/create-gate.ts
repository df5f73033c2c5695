/** The effect of the answer to a create at an upstream service on later creates there. */
export type CreateAnswer =
  /** The service accepted it, or refused its content. */
  | { kind: "open"; isRefused?: boolean }
  | {
      /** "limit": too many, or the service is away. "account": its owners must act. "unknown": it may have created something. */
      kind: "limit" | "account" | "unknown";
      /** A sentence for clients that names the upstream service. */
      reason: string;
      /** The wait that the service asks for, ms. */
      retryAfterMs?: number | undefined;
      /** How many conversations of one key may wait during a limit. */
      atOnce: number;
    };

/** Why new conversations are refused. */
export interface Refused {
  reason: string;
  retryAfterMs: number;
}

/** Whether creates at the upstream service are sent. Without a `kind` the gate is open. */
export interface Gate {
  kind?: "limit" | "account" | "unknown";
  reason: string;
  atOnce: number;
  /** Refused tries in a row. */
  failures: number;
  /** Unknown outcomes in a row. */
  unknowns: number;
  /** Ms until the next try. */
  waitMs: number;
}

export const OPEN: Gate = { reason: "", atOnce: 0, failures: 0, unknowns: 0, waitMs: 0 };

/** The interval between tries at a failing account, and how long an unanswered try blocks others, ms. */
export const PROBE_MS = 60_000;
/** The interval between tries at a limit without `Retry-After`, doubled each time up to the longest, ms. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
/** The least wait at a limit, ms. */
const LEAST_WAIT_MS = 1_000;
const UNKNOWNS = 3;

/** Returns the gate after an answer. `isStale`: another answer changed the gate after this create was sent. */
export function advanceGate(gate: Gate, answer: CreateAnswer, isStale: boolean): Gate {
  const { kind } = answer;
  if (kind === "open") return isStale && gate.kind ? { ...gate, unknowns: 0 } : OPEN;
  const unknowns = kind === "unknown" ? gate.unknowns + 1 : 0;
  if (kind === "unknown" && unknowns < UNKNOWNS) return { ...gate, unknowns };
  const { reason, atOnce, retryAfterMs } = answer;
  const before = gate.kind === kind ? gate.failures : 0;
  // Creates that ran at the same time count as one try.
  const failures = isStale && before > 0 ? before : before + 1;
  const growing = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
  const gateMs = kind === "limit" ? Math.max(LEAST_WAIT_MS, retryAfterMs ?? growing) : PROBE_MS;
  const waitMs = isStale ? Math.max(gateMs, gate.waitMs) : gateMs;
  return { kind, reason, atOnce, failures, unknowns, waitMs };
}

/** Returns why a new conversation is refused; `waiting`: how many of its key, and of all keys, wait to be sent. */
export function findRefusal(gate: Gate, waiting: { ofKey: number; ofAll: number }): Refused | undefined {
  const { kind, reason, atOnce, waitMs } = gate;
  const refuses =
    kind === "limit" ? waiting.ofKey >= atOnce : waitMs > 0 || (kind === "account" && waiting.ofAll > 0);
  return kind && refuses ? { reason, retryAfterMs: Math.max(LEAST_WAIT_MS, waitMs) } : undefined;
}

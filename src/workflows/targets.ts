import type { CallOptions } from "../client/client.js";
import { RefusedError, ResearchError } from "../client/errors.js";
import { epochOf } from "../clock.js";
import { isRequestId, ownPart } from "../protocol/conversation.js";
import { type HistoryEntry, NOT_CREATED, type Seen, UNKNOWN } from "../store/history/records.js";
import { CreatedElsewhereError, TargetError, UnresolvedCreateError } from "./errors.js";
import type { Ports } from "./ports.js";

/** A request that exists. `entry` is what the history holds of it, and is kept in step with what is seen. */
export interface Target {
  requestId: string;
  entry: Seen | undefined;
}

/** A target that a text named; its entry is whole. */
export interface NamedTarget extends Target {
  entry: HistoryEntry | undefined;
}

/** The newest create at the origin in force. */
const LAST = "@last";
/** A shorter text is not taken for a prefix: it would match by accident. */
const SHORTEST_PREFIX = 4;

type TargetPorts = Pick<Ports, "history" | "origin">;

/**
 * The request that a text names: a whole id, a unique prefix of one in the history, or `@last`. A well-formed id
 * that is not in the history names itself. Throws TargetError, or UnresolvedCreateError if the text names a create
 * whose outcome is unknown.
 */
export function resolveTarget(ports: TargetPorts, text: string): NamedTarget {
  const entry = findEntry(ports, text);
  if (!entry) return { requestId: text, entry: undefined };
  if (entry.status === NOT_CREATED)
    throw new TargetError("not-created", `${entry.local_id} is settled as never created`);
  if (entry.request_id === null || (entry.status === UNKNOWN && text === LAST))
    throw UnresolvedCreateError.of(entry);
  return { requestId: entry.request_id, entry: entry.status === UNKNOWN ? undefined : entry };
}

/** What the history holds of a text; undefined for a well-formed id that is not in it. Throws TargetError. */
export function findEntry(ports: TargetPorts, text: string): HistoryEntry | undefined {
  if (text === LAST) return newest(ports);
  if (!isRequestId(text)) throw new TargetError("invalid", `invalid request id: ${JSON.stringify(text)}`);
  const found = ports.history?.find(text) ?? [];
  const whole = found.find((entry) => entry.request_id === text || entry.local_id === text);
  if (whole) return whole;
  if (ownPart(text).length < SHORTEST_PREFIX) return undefined;
  if (found.length > 1) {
    const ids = found.map((entry) => entry.request_id ?? entry.local_id).join(", ");
    throw new TargetError(
      "ambiguous",
      `${JSON.stringify(text)} is the beginning of ${found.length} ids: ${ids}`,
    );
  }
  return found[0];
}

/** The same for a text that must be in the history. Throws TargetError. */
export function requireEntry(ports: TargetPorts, text: string): HistoryEntry {
  const entry = findEntry(ports, text);
  if (entry) return entry;
  throw new TargetError("not-recorded", `${text} is not in the history of this machine`);
}

/** What the provider takes for a follow-up. Rejects as resolveTarget, as the client, or with `USAGE`. */
export async function followUpOf(
  ports: TargetPorts & Pick<Ports, "client" | "provider">,
  text: string,
  { signal, isOffline = false }: CallOptions & { isOffline?: boolean | undefined },
): Promise<string> {
  const { requestId, entry } = resolveTarget(ports, text);
  const field = ports.provider?.followUpField;
  if (field === undefined) return requestId;
  const known =
    entry?.[field] ?? (isOffline ? undefined : (await ports.client.status(requestId, { signal }))[field]);
  if (typeof known === "string") return known;
  throw new ResearchError("USAGE", `the ${field} of ${requestId} is not known, which a follow-up needs`);
}

/**
 * When this machine recorded a request, epoch ms; 0 for one of another origin than that in force, which has no minute
 * to become known there. Undefined for one that is not in the history.
 */
export function recordedAt({ entry }: Target, origin: string): number | undefined {
  return entry && entry.origin !== origin ? 0 : epochOf(entry?.sent_at);
}

/** A 404 for a request that the history has under another origin names that origin and its flag; other errors stay. */
export function withItsOrigin(error: unknown, { requestId, entry }: Target, origin: string): unknown {
  if (!(error instanceof RefusedError) || error.kind !== "not-found") return error;
  if (!entry || entry.origin === origin) return error;
  return new CreatedElsewhereError(error, requestId, entry, origin);
}

function newest({ history, origin }: TargetPorts): HistoryEntry {
  const entry = history?.newest(origin);
  if (entry) return entry;
  throw new TargetError("none-created", `@last: no request to ${origin} is recorded on this machine`);
}

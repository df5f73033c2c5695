import type { CallOptions, StatusData } from "../client/client.js";
import { RefusedError, ResearchError } from "../client/errors.js";
import { epochOf } from "../clock.js";
import { isCutShort } from "../dialects/providers.js";
import { exactJson } from "../json/exact-json.js";
import { type Data, isFinal, isRequestId, ownPart } from "../protocol/conversation.js";
import { inWords, LocalError } from "../store/files.js";
import { type HistoryEntry, NOT_CREATED, type Seen, UNKNOWN } from "../store/history/history.js";
import { CreatedElsewhereError, StillRunningError, TargetError, UnresolvedCreateError } from "./errors.js";
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
  if (text === LAST) {
    const newest = ports.history?.newest(ports.origin);
    if (newest) return newest;
    throw new TargetError("none-created", `@last: no request to ${ports.origin} is recorded on this machine`);
  }
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

/** What the service answered about one request, or why there is no answer. */
export type StateAnswer =
  /** `notObserved`: why the state could not be kept in the history. */
  | { kind: "answered"; target: Target; data: StatusData; notObserved: LocalError | undefined }
  | { kind: "failed"; target: Target; error: unknown };

/** Asks for all states at once; an answer for each, in the order given. Rejects with `signal.reason` only. */
export async function askStates(
  ports: Pick<Ports, "client" | "history" | "origin">,
  targets: readonly Target[],
  { signal }: CallOptions = {},
): Promise<StateAnswer[]> {
  const { client, origin } = ports;
  const asked = targets.map(async (target): Promise<StateAnswer> => {
    try {
      const data = await client.status(target.requestId, { signal, recordedAt: recordedAt(target, origin) });
      return { kind: "answered", target, data, notObserved: observe(ports, target.entry, data) };
    } catch (error) {
      return { kind: "failed", target, error: withItsOrigin(error, target, origin) };
    }
  });
  const answers = await Promise.all(asked);
  signal?.throwIfAborted();
  return answers;
}

/** Stops requests, one after the other; a failure of one ends no other. Throws `signal.reason`. */
export async function* stopAll(
  ports: Pick<Ports, "client" | "history" | "origin" | "clock">,
  targets: readonly Target[],
  { signal }: CallOptions = {},
): AsyncGenerator<StateAnswer, void> {
  for (const target of targets) {
    signal?.throwIfAborted();
    try {
      // A stop that is refused tells the state all the same.
      const onState = (state: StatusData) => void observe(ports, target.entry, state);
      const data = await stopped(ports, target.requestId, { signal, onState });
      yield { kind: "answered", target, data, notObserved: observe(ports, target.entry, data) };
    } catch (error) {
      signal?.throwIfAborted();
      yield { kind: "failed", target, error: withItsOrigin(error, target, ports.origin) };
    }
  }
}

/** How long a service may take to stop what it began to stop, and how often it is asked, in milliseconds. */
const STOP_MS = 16_000;
const ASK_MS = 1_000;

/** §4.2: the answer to a stop says STOPPED. Where a service only begins to stop, the state decides. */
async function stopped(
  { client, clock }: Pick<Ports, "client" | "clock">,
  requestId: string,
  { signal, onState }: CallOptions & { onState: (state: StatusData) => void },
): Promise<StatusData> {
  let state = await client.stop(requestId, { signal, onState });
  const end = clock.monotonic() + STOP_MS;
  while (!isFinal(state.status)) {
    if (clock.monotonic() >= end) throw new StillRunningError(requestId, state);
    await clock.sleep(ASK_MS, signal);
    state = await client.status(requestId, { signal });
    onState(state);
  }
  if (state.status !== "STOPPED") throw new StillRunningError(requestId, state);
  return state;
}

/** A longer message of a stop is cut in the history. In UTF-16 units. */
const MESSAGE_LENGTH = 500;

/** Keeps a provider's result that an answer holds: it may be gone when it is asked for again. Throws LocalError. */
export function keepResult(
  { history, origin }: Pick<Ports, "history" | "origin">,
  requestId: string,
  data: Data,
): void {
  if (data.provider_status === undefined || data.output === undefined) return;
  history?.results.keep(origin, requestId, exactJson(data));
}

/**
 * Keeps a state that was seen, and its result, of a request in the history at the origin in force: another service may
 * know another one by the same id. Returns why that failed, which ends nothing.
 */
export function observe(
  { history, origin }: Pick<Ports, "history" | "origin">,
  entry: Seen | undefined,
  data: StatusData,
): LocalError | undefined {
  if (entry?.origin !== origin) return undefined;
  try {
    const { status, cost_dollars: cost, message } = data;
    const hasCost = typeof cost === "number" && isFinal(status);
    const isPart = isCutShort(data);
    const hasMessage = status === "STOPPED" && typeof message === "string";
    history?.observe(entry, status, {
      ...(isPart && { cut_short: true }),
      ...(hasCost && { cost_dollars: cost }),
      ...(hasMessage && { message: message.slice(0, MESSAGE_LENGTH) }),
    });
    entry.status = status;
    if (isFinal(status)) keepResult({ history, origin }, entry.request_id ?? "", data);
    return undefined;
  } catch (error) {
    return error instanceof LocalError ? error : new LocalError(inWords(error), { cause: error });
  }
}

import type { CallOptions, StatusData } from "../client/client.js";
import { isCutShort } from "../dialects/dialect.js";
import { exactJson } from "../json/exact-json.js";
import { type Data, isFinal } from "../protocol/conversation.js";
import { inWords, LocalError } from "../store/errors.js";
import type { Seen } from "../store/history/records.js";
import { StillRunningError } from "./errors.js";
import type { Ports } from "./ports.js";
import { recordedAt, type Target, withItsOrigin } from "./targets.js";

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

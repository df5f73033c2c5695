import type { CallOptions, StatusData } from "../client/client.js";
import { isFinal } from "../protocol/conversation.js";
import { StillRunningError } from "./errors.js";
import { observe } from "./observe.js";
import type { Ports } from "./ports.js";
import type { StateAnswer } from "./states.js";
import { type Target, withItsOrigin } from "./targets.js";

/**
 * Stops requests, one after the other; an event for each. What ends one of them does not end the others; throws
 * `signal.reason` when aborted.
 */
export async function* stopAll(
  ports: Pick<Ports, "client" | "history" | "origin" | "clock">,
  targets: readonly Target[],
  { signal }: CallOptions = {},
): AsyncGenerator<StateAnswer, void> {
  for (const target of targets) {
    signal?.throwIfAborted();
    try {
      const data = await stopped(ports, target.requestId, signal);
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
  signal: AbortSignal | undefined,
): Promise<StatusData> {
  let state = await client.stop(requestId, { signal });
  const end = clock.monotonic() + STOP_MS;
  while (!isFinal(state.status)) {
    if (clock.monotonic() >= end) throw new StillRunningError(requestId, state);
    await clock.sleep(ASK_MS, signal);
    state = await client.status(requestId, { signal });
  }
  if (state.status !== "STOPPED") throw new StillRunningError(requestId, state);
  return state;
}

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
  ports: Pick<Ports, "client" | "history" | "origin">,
  targets: readonly Target[],
  { signal }: CallOptions = {},
): AsyncGenerator<StateAnswer, void> {
  for (const target of targets) {
    signal?.throwIfAborted();
    try {
      const data = await stopped(ports, target.requestId, signal);
      yield { kind: "answered", target, data, notObserved: observe(ports, target.entry, data.status) };
    } catch (error) {
      signal?.throwIfAborted();
      yield { kind: "failed", target, error: withItsOrigin(error, target, ports.origin) };
    }
  }
}

/** §4.2: the answer to a stop says STOPPED. Where it says anything else, the state decides. */
async function stopped(
  { client }: Pick<Ports, "client">,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<StatusData> {
  const data = await client.stop(requestId, { signal });
  if (data.status === "STOPPED") return data;
  const state = isFinal(data.status) ? data : await client.status(requestId, { signal });
  if (state.status !== "STOPPED") throw new StillRunningError(requestId, state.status);
  return state;
}

import type { CallOptions, StatusData } from "../client/client.js";
import { epochOf } from "../clock.js";
import type { LocalError } from "../store/errors.js";
import { observe } from "./observe.js";
import type { Ports } from "./ports.js";
import { type Target, withItsOrigin } from "./targets.js";

/** What the service answered about one request, or why there is no answer. */
export type StateAnswer =
  /** `notObserved`: why the state could not be kept in the history. */
  | { kind: "answered"; target: Target; data: StatusData; notObserved: LocalError | undefined }
  | { kind: "failed"; target: Target; error: unknown };

/**
 * Asks for the state of each request, all at once; an answer for each, in the order given. Rejects with
 * `signal.reason` only.
 */
export async function askStates(
  ports: Pick<Ports, "client" | "history" | "origin">,
  targets: readonly Target[],
  { signal }: CallOptions = {},
): Promise<StateAnswer[]> {
  const { client, origin } = ports;
  const asked = targets.map(async (target): Promise<StateAnswer> => {
    try {
      const recordedAt = target.entry?.origin === origin ? epochOf(target.entry?.sent_at) : undefined;
      const data = await client.status(target.requestId, { signal, recordedAt });
      return { kind: "answered", target, data, notObserved: observe(ports, target.entry, data) };
    } catch (error) {
      return { kind: "failed", target, error: withItsOrigin(error, target, origin) };
    }
  });
  const answers = await Promise.all(asked);
  signal?.throwIfAborted();
  return answers;
}

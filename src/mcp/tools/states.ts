import type { Data } from "../../protocol/conversation.js";
import { isFinal } from "../../protocol/conversation.js";
import type { Ports } from "../../workflows/ports.js";
import type { StateAnswer } from "../../workflows/states.js";
import { type NamedTarget, resolveTarget } from "../../workflows/targets.js";
import { toolFailure } from "../failure.js";

/** How one of several requests stands: its state, or why that is not known. */
export type RequestState =
  | { kind: "state"; requestId: string; status: string; data?: Data }
  | { kind: "failed"; requestId: string; status: string | null; error: unknown };

/** Which requests the ids of a call name, each once, and the ids that name none. */
export function targetsOf(
  ports: Ports,
  ids: readonly string[],
): { targets: NamedTarget[]; failed: RequestState[] } {
  const targets = new Map<string, NamedTarget>();
  const failed: RequestState[] = [];
  for (const id of new Set(ids)) {
    try {
      const target = resolveTarget(ports, id);
      targets.set(target.requestId, target);
    } catch (error) {
      failed.push({ kind: "failed", requestId: id, status: null, error });
    }
  }
  return { targets: [...targets.values()], failed };
}

/** States as content. Throws the first error if no state of any request is known. */
export function statesContent(states: readonly RequestState[]): { requests: Data[] } {
  const [first] = states;
  if (first?.kind === "failed" && states.every(({ kind, status }) => kind === "failed" && status === null))
    throw first.error;
  return {
    requests: states.map((state) => {
      const { requestId, status } = state;
      const isEnd = status !== null && isFinal(status);
      const entry = { request_id: requestId, status, final: isEnd };
      return state.kind === "failed"
        ? { ...entry, error: toolFailure(state.error) }
        : { ...state.data, ...entry };
    }),
  };
}

/** What the service answered about one request. */
export function stateOfAnswer(answer: StateAnswer): RequestState {
  const { requestId } = answer.target;
  return answer.kind === "answered"
    ? { kind: "state", requestId, status: answer.data.status, data: answer.data }
    : { kind: "failed", requestId, status: null, error: answer.error };
}

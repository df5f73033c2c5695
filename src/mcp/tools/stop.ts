import { stopAll } from "../../workflows/stop.js";
import { texts } from "../fields.js";
import { objectOf, STATES } from "../output-schema.js";
import { tool } from "../tool.js";
import { type RequestState, stateOfAnswer, statesContent, targetsOf } from "./states.js";

export const stop = tool({
  name: "research_stop",
  title: "Stop requests for good",
  description:
    "Stop requests. Nothing of their work is kept, they cannot be started again, and what they cost is not given back. Ask the person first.",
  fields: { ids: texts("Ids of requests; @last is the newest one.") },
  outputSchema: objectOf(STATES),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  changes: true,
  async call(session, { ids }, { signal }) {
    const ports = session.ports();
    const { targets, failed } = targetsOf(ports, ids);
    const states: RequestState[] = [];
    for await (const answer of stopAll(ports, targets, { signal })) states.push(stateOfAnswer(answer));
    return { content: statesContent([...states, ...failed]) };
  },
});

import { askStates } from "../../workflows/states.js";
import { texts } from "../fields.js";
import { objectOf, STATES } from "../output-schema.js";
import { ASKS, tool } from "../tool.js";
import { stateOfAnswer, statesContent, targetsOf } from "./states.js";

export const status = tool({
  name: "research_status",
  title: "Ask for the state of requests",
  description:
    "The state of each request now: PENDING, PROCESSING, COMPLETED, FAILED or STOPPED. To wait for the end, use research_wait.",
  fields: { ids: texts("Ids of requests; @last is the newest one.") },
  outputSchema: objectOf(STATES),
  annotations: ASKS,
  async call(session, { ids }, { signal }) {
    const ports = session.ports();
    const { targets, failed } = targetsOf(ports, ids);
    const answers = await askStates(ports, targets, { signal });
    return { content: statesContent([...answers.map(stateOfAnswer), ...failed]) };
  },
});

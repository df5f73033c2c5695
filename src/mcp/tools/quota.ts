import { LocalError } from "../../store/errors.js";
import { currentHour } from "../../workflows/quota.js";
import { COUNT, COUNT_OR_NULL, objectOf, TEXT, TEXT_OR_NULL } from "../output-schema.js";
import { tool } from "../tool.js";

export const quota = tool({
  name: "research_quota",
  title: "Say how many creates are left",
  description:
    "How many creates of the last hour count for the origin and key in use, and how many are left where the limit is known. Counted from this machine's own records; asks no service.",
  fields: {},
  outputSchema: objectOf({
    ...{ used: COUNT, left: COUNT_OR_NULL, limit: COUNT_OR_NULL, next_slot_at: TEXT_OR_NULL },
    ...{ origin: TEXT, counted_from: TEXT },
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  call(session) {
    const ports = session.ports();
    const said = session.limit();
    const limit = said === Number.POSITIVE_INFINITY ? undefined : said;
    const hour = currentHour(ports, limit ?? 1);
    if (!hour)
      throw new LocalError(
        "the creates of this hour are not counted, since no history is kept on this machine",
      );
    const used = hour.attempts.length;
    return {
      content: {
        used,
        left: limit === undefined ? null : Math.max(0, limit - used),
        limit: limit ?? null,
        next_slot_at: limit === undefined ? null : new Date(hour.nextAt).toISOString(),
        origin: ports.origin,
        counted_from: "this machine's own records",
      },
    };
  },
});

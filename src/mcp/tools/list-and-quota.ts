import { checkStatusFilter } from "../../app/status-filter.js";
import type { HistoryEntry } from "../../client/store/history/history-records.js";
import { defineTool, field, shape } from "../define-tool.js";

const DEFAULT_LIMIT = 20;
const MOST = 500;
/** The most characters of a prompt in the list: enough to recognize it, since a prompt may be a megabyte long. */
const PROMPT_CHARACTERS = 200;

export const list = defineTool({
  name: "research_list",
  title: "List the requests of this machine",
  description:
    "The requests that this machine created, by this server or by the research command: unknown outcomes first, then the newest first, each in its last recorded state. Nothing is sent to the service. A prompt is cut after 200 characters.",
  fields: {
    limit: field.number(`The maximum number of requests. Default: ${DEFAULT_LIMIT}.`, 1, MOST),
    status: field.text("Only requests in this state; UNKNOWN: creates with an unknown outcome."),
  },
  outputSchema: shape.object({
    requests: shape.array(
      shape.object({
        ...{
          local_id: shape.text,
          request_id: shape.textOrNull,
          status: shape.text,
          created_at: shape.textOrNull,
        },
        ...{ sent_at: shape.text, origin: shape.text, prompt: shape.text, prompt_is_cut: shape.flag },
      }),
    ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async call(session, { limit = DEFAULT_LIMIT, status }) {
    const { history } = session.current;
    await checkStatusFilter(status, history);
    const entries = history?.list({ limit, status }) ?? [];
    return { content: { requests: entries.map(buildListedRequest) } };
  },
});

function buildListedRequest(entry: HistoryEntry) {
  const { local_id, request_id, status, created_at, sent_at, origin, profile, prompt } = entry;
  const cut = prompt.length > PROMPT_CHARACTERS;
  // Do not cut a surrogate pair.
  const start = prompt.slice(0, PROMPT_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
  const text = { prompt: cut ? start : prompt, prompt_is_cut: cut };
  return { local_id, request_id, status, created_at, sent_at, origin, profile, ...text };
}

export const quota = defineTool({
  name: "research_quota",
  title: "Show how many creates are left",
  description:
    "How many create requests of the last hour count for the key in use, how many are left, the same for 24 hours (`day`), and what was `spent`. Nothing is sent to the service.",
  fields: {},
  outputSchema: shape.object({
    ...{
      used: shape.count,
      left: shape.countOrNull,
      limit: shape.countOrNull,
      next_slot_at: shape.textOrNull,
    },
    ...{ day: { type: ["object", "null"] }, spent: shape.array({ type: "object" }) },
    ...{ origin: shape.text, counted_from: shape.text },
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  call(session) {
    return { content: { ...session.readQuota() } };
  },
});

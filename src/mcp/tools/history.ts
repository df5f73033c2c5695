import type { HistoryEntry } from "../../client/store/history/records.js";
import { checkStatus } from "../../machine/known-status.js";
import {
  arrayOf,
  COUNT,
  COUNT_OR_NULL,
  FLAG,
  number,
  objectOf,
  optional,
  TEXT,
  TEXT_OR_NULL,
  textField,
  tool,
} from "../tool.js";

const DEFAULT_LIMIT = 20;
const MOST = 500;
/** A prompt may be a megabyte; this much of one tells which it is. */
const PROMPT_CHARACTERS = 200;

export const list = tool({
  name: "research_list",
  title: "List what this machine created",
  description:
    "The requests that this machine created, by this server or by the research command: unknown outcomes first, then the newest first, each in the state last seen. Asks no service. A prompt is cut after 200 characters.",
  fields: {
    limit: optional(number(`How many at most. Default: ${DEFAULT_LIMIT}.`, 1, MOST)),
    status: optional(textField("Only those in this state; UNKNOWN: creates whose outcome is unknown.")),
  },
  outputSchema: objectOf({
    requests: arrayOf(
      objectOf({
        ...{ local_id: TEXT, request_id: TEXT_OR_NULL, status: TEXT, created_at: TEXT_OR_NULL },
        ...{ sent_at: TEXT, origin: TEXT, prompt: TEXT, prompt_is_cut: FLAG },
      }),
    ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async call(session, { limit = DEFAULT_LIMIT, status }) {
    const { history } = session.current;
    await checkStatus(status, history);
    const entries = history?.list({ limit, status }) ?? [];
    return { content: { requests: entries.map(listed) } };
  },
});

function listed(entry: HistoryEntry) {
  const { local_id, request_id, status, created_at, sent_at, origin, profile, prompt } = entry;
  const cut = prompt.length > PROMPT_CHARACTERS;
  // Half of a surrogate pair is not a character.
  const start = prompt.slice(0, PROMPT_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
  const text = { prompt: cut ? start : prompt, prompt_is_cut: cut };
  return { local_id, request_id, status, created_at, sent_at, origin, profile, ...text };
}

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
    return { content: { ...session.quota() } };
  },
});

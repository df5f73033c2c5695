import { escapeHtml } from "../../../core/markdown/html/render-blocks.js";
import { type KnownStatus, STATUSES } from "../../../core/protocol/conversation.js";
import { shortenLine } from "../../../core/text/format-text.js";
import { formatDuration } from "../../../core/text/time-format.js";
import { type ListedConversation, type Overview, SPENT_MS } from "../../conversations/conversation-store.js";
import { type PageParts, renderElapsedTime } from "../live-updates.js";
import { listKeyNames, listShownKeys, renderKeySpending, renderKeyUse } from "./keys.js";
import { computeStateTimes, renderDuration, renderState, type ViewParts } from "./shared-parts.js";

/** Maximum number of conversations in the list without a search. */
const MOST_LISTED = 200;
/** Maximum number of conversations whose questions are searched. */
const MOST_SEARCHED = 1_000;
/** Maximum length of a question for display and search, in UTF-16 units; the rest is cut off. */
const LONGEST_QUESTION = 300;

/** Which conversations the list shows. */
export interface Filter {
  /** Words that a question must contain, in any case, separated by white space; empty matches any question. */
  words: string;
  state: KnownStatus | undefined;
}

/** Reads the filter from a query; ignores an unknown state. */
export function parseFilter(query: URLSearchParams): Filter {
  const state = STATUSES.find((status) => status === query.get("state"));
  return { words: query.get("q")?.trim() ?? "", state };
}

/** Creates the overview page. Each call of the result reads the store again. `host`: the checked Host header. */
export function createOverviewView(parts: ViewParts): (filter: Filter, host: string) => Promise<PageParts> {
  const { store, single, clock } = parts;
  const questions = new Questions(store.overview);
  return async ({ words, state }, host) => {
    const added = await store.keys.list();
    const keys = listShownKeys(added, single, clock.now());
    const [{ oldestDueMs }, states, newest, use, spent] = await Promise.all([
      store.readCounts(),
      store.overview.countStates(),
      store.overview.listNewest(words ? MOST_SEARCHED : MOST_LISTED, state),
      store.overview.use(keys),
      store.overview.listSpent("key", SPENT_MS),
    ]);
    const names = listKeyNames(added);
    const wanted = words.toLowerCase().split(/\s+/);
    const rows: string[] = [];
    for (const conversation of newest.conversations) {
      const question = await questions.of(conversation.requestId);
      const has = (word: string) => question?.toLowerCase().includes(word) ?? word === "";
      if (wanted.every(has)) rows.push(renderConversationRow(conversation, question, names, newest.at));
    }
    const all = STATUSES.reduce((sum, status) => sum + (state && status !== state ? 0 : states[status]), 0);
    const seen = newest.conversations.length;
    const more = all > seen ? `The newest ${seen} of ${all}${words && " were searched"}.` : "";
    const none = words || state ? NONE_FOUND : renderEmpty(host);
    return new Map([
      ["trouble", ""],
      ["counts", renderCounts(states, oldestDueMs)],
      ["search", renderSearch({ words, state })],
      ["conversations", rows.length === 0 ? none : renderConversationList(rows, names.size > 0, more)],
      ["keys", renderKeyUse(keys, use)],
      ["costs", renderKeySpending(spent, names)],
    ]);
  };
}

function renderCounts(states: Readonly<Record<KnownStatus, number>>, oldestDueMs: number): string {
  const items = STATUSES.map((status) => `<li><b>${states[status]}</b> ${renderState(status)}</li>`);
  const waited = `Oldest waiting: ${renderElapsedTime("due", formatDuration(oldestDueMs))}`;
  const queue = oldestDueMs >= 1_000 ? `\n<p class="summary">${waited}</p>` : "";
  return `<header><h1>Research service</h1>\n<ul class="counts">\n${items.join("\n")}\n</ul>${queue}</header>`;
}

function renderSearch({ words, state }: Filter): string {
  const options = STATUSES.map(
    (status) => `<option${status === state ? " selected" : ""}>${status}</option>`,
  );
  return `<h2>Conversations</h2>\n<form action="ui" class="search"><input type="search" name="q" value="${escapeHtml(words)}" placeholder="Words of a question" aria-label="Words of a question"> <select name="state" aria-label="State"><option value="">any state</option>${options.join("")}</select> <button>Search</button></form>`;
}

const NONE_FOUND = '<p class="none">No conversation matches. <a href="ui">Show all</a></p>';

function renderEmpty(host: string): string {
  const line = `research run "How do tides form?" --base-url http://${host}`;
  return `<p class="none">None yet. With the key of the service in <code>RESEARCH_API_KEY</code>, this asks a question:</p>\n<pre><code>${escapeHtml(line)}</code></pre>`;
}

function renderConversationList(rows: readonly string[], hasKeys: boolean, more: string): string {
  const columns = ["Question", "State", ...(hasKeys ? ["Key"] : []), "Age", "Pending", "Processing"];
  const head = columns.map((name) => `<th scope="col">${name}</th>`).join("");
  return `<div class="table list rows"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join("\n")}\n</tbody></table></div>\n<p class="none">${more}</p>`;
}

function renderConversationRow(
  conversation: ListedConversation,
  question: string | null,
  names: ReadonlyMap<string, string>,
  now: number,
): string {
  const { requestId, status, keyId } = conversation;
  const id = escapeHtml(requestId);
  const times = computeStateTimes(conversation, now);
  const text = question === null ? `<code>${id}</code>` : `<span dir="auto">${escapeHtml(question)}</span>`;
  const cells = [
    `<td><a class="asked" href="ui/conversations/${id}">${text}</a></td>`,
    `<td>${renderState(status)}</td>`,
    ...(names.size > 0 ? [`<td>${escapeHtml(names.get(keyId) ?? "–")}</td>`] : []),
    `<td>${renderDuration(`age-${id}`, times.age)}</td>`,
    `<td>${renderDuration(`pending-${id}`, times.pending)}</td>`,
    `<td>${renderDuration(`processing-${id}`, times.processing)}</td>`,
  ];
  return `<tr>${cells.join("")}</tr>`;
}

/** Maximum number of cached questions. They are cached because a job may be a megabyte, and each row of the list needs one. */
const MOST_KEPT = 2 * MOST_SEARCHED;

/** Caches the questions of conversations, each shortened to one line; null if the job was not kept. */
class Questions {
  readonly #kept = new Map<string, string | null>();
  constructor(private readonly overview: Pick<Overview, "findJob">) {}

  async of(requestId: string): Promise<string | null> {
    const kept = this.#kept.get(requestId);
    if (kept !== undefined) return kept;
    const job = await this.overview.findJob(requestId);
    const question = job === undefined ? null : shortenLine(job.prompt, LONGEST_QUESTION);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(requestId, question);
    return question;
  }
}

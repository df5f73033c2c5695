import { short } from "../../../markdown/html/batch-pages.js";
import { escapeHtml } from "../../../markdown/html/blocks.js";
import type { KnownStatus } from "../../../protocol/conversation.js";
import { formatDuration } from "../../../text/duration.js";
import type { ListedConversation, Overview } from "../../conversations/conversation-store.js";
import { faultText, type InjectedFault } from "../../http/faults/fault.js";
import { type Parts, ticking } from "../parts.js";
import { costsHtml, keyNames, keysHtml, shownKeys } from "./keys.js";
import { passing, stateHtml, timesOf, type ViewParts } from "./view.js";

/** The most conversations that are listed. */
const MOST_LISTED = 200;
const STATES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "STOPPED"] as const;

/** The first page: conversations, the hour and the cost of each key, faults. Each call reads the store again. */
export function overviewView({ store, single, faults, clock }: ViewParts): () => Promise<Parts> {
  const questions = new Questions(store.overview);
  return async () => {
    const [{ oldestDueMs }, states, newest, hours, costs, added] = await Promise.all([
      store.counts(),
      store.overview.states(),
      store.overview.newest(MOST_LISTED),
      store.overview.hours(),
      store.overview.costs(),
      store.keys.list(),
    ]);
    const names = keyNames(added);
    const rows: string[] = [];
    for (const conversation of newest.conversations) {
      const question = await questions.of(conversation.requestId);
      rows.push(rowHtml(conversation, question, names, newest.at));
    }
    const keys = shownKeys(added, single, clock.now());
    return new Map([
      ["trouble", ""],
      ["counts", countsHtml(states, oldestDueMs)],
      ["conversations", listHtml(rows, names.size > 0, states)],
      ["keys", keysHtml(keys, hours)],
      ["costs", costsHtml(costs, names)],
      ["faults", faultsHtml(faults.inForce())],
    ]);
  };
}

type States = Readonly<Record<KnownStatus, number>>;

function countsHtml(states: States, oldestDueMs: number): string {
  const items = STATES.map((status) => `<li><b>${states[status]}</b> ${stateHtml(status)}</li>`);
  const waited = `Oldest waiting: ${ticking("due", formatDuration(oldestDueMs))}`;
  const queue = oldestDueMs >= 1_000 ? `\n<p class="summary">${waited}</p>` : "";
  return `<header><h1>Research service</h1>\n<ul class="counts">\n${items.join("\n")}\n</ul>${queue}</header>`;
}

function listHtml(rows: readonly string[], hasKeys: boolean, states: States): string {
  const total = STATES.reduce((sum, status) => sum + states[status], 0);
  const title = "<h2>Conversations</h2>";
  if (rows.length === 0) return `${title}\n<p class="none">None yet.</p>`;
  const columns = ["Question", "State", ...(hasKeys ? ["Key"] : []), "Age", "Pending", "Processing"];
  const head = columns.map((name) => `<th scope="col">${name}</th>`).join("");
  const more = total > rows.length ? `\n<p class="none">The newest ${rows.length} of ${total}.</p>` : "";
  return `${title}\n<div class="table list" tabindex="0"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join("\n")}\n</tbody></table></div>${more}`;
}

function rowHtml(
  conversation: ListedConversation,
  question: string | null,
  names: ReadonlyMap<string, string>,
  now: number,
): string {
  const { requestId, status, keyId } = conversation;
  const id = escapeHtml(requestId);
  const times = timesOf(conversation, now);
  const text = question === null ? `<code>${id}</code>` : `<span dir="auto">${escapeHtml(question)}</span>`;
  const cells = [
    `<td><a class="asked" href="ui/conversations/${id}">${text}</a></td>`,
    `<td>${stateHtml(status)}</td>`,
    ...(names.size > 0 ? [`<td>${escapeHtml(names.get(keyId) ?? "–")}</td>`] : []),
    `<td>${passing(`age-${id}`, times.age)}</td>`,
    `<td>${passing(`pending-${id}`, times.pending)}</td>`,
    `<td>${passing(`processing-${id}`, times.processing)}</td>`,
  ];
  return `<tr>${cells.join("")}</tr>`;
}

/** The faults that may still befall a request at this process. */
function faultsHtml(faults: readonly { fault: InjectedFault; seen: number }[]): string {
  const title = "<h2>Faults in force</h2>";
  if (faults.length === 0) return `${title}\n<p class="none">None.</p>`;
  const items = faults.map(({ fault, seen }) => {
    const counted = `${seen} ${seen === 1 ? "request" : "requests"} seen`;
    return `<li><code>${escapeHtml(faultText(fault))}</code> <span class="soft">${counted}</span></li>`;
  });
  return `${title}\n<ul class="faults">\n${items.join("\n")}\n</ul>`;
}

/** Questions that are remembered: a job may be a megabyte, and is read for each row of a list. */
const MOST_KEPT = 1_000;

/** What conversations ask, on one line each; null for what was not kept. */
class Questions {
  readonly #kept = new Map<string, string | null>();
  constructor(private readonly overview: Pick<Overview, "job">) {}

  async of(requestId: string): Promise<string | null> {
    const kept = this.#kept.get(requestId);
    if (kept !== undefined) return kept;
    const job = await this.overview.job(requestId);
    const question = job === undefined ? null : short(job.prompt);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(requestId, question);
    return question;
  }
}

import { indentJson, stringifyExact } from "../../../core/json/exact-json.js";
import { escapeHtml } from "../../../core/markdown/html/render-blocks.js";
import { renderResultContent } from "../../../core/markdown/html/result-page.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { describeProgress, describeUsage } from "../../../core/text/describe-progress.js";
import { shortenLine } from "../../../core/text/format-text.js";
import type { Caller, ListedConversation, RemoteRequest } from "../../conversations/conversation-store.js";
import { describeUpstreamFate } from "../../http/operation-handlers.js";
import type { PageParts } from "../live-updates.js";
import { listKeyNames } from "./keys.js";
import {
  computeStateTimes,
  renderDuration,
  renderState,
  renderTimestamp,
  type ViewParts,
} from "./shared-parts.js";

/** A caller who may see the output of every key, and whose requests count against no limit. */
const OPERATOR: Caller = { keyId: "", limits: { create: 0, stop: 0 }, ownOnly: false };
/** Maximum length of a question in the headline, in UTF-16 units; a longer one is shown in full below the headline. */
const LONGEST_HEADLINE = 160;
/** Maximum UTF-16 units of a result with layout. A longer one is shown as text, because rendering 2 MiB blocks the service's thread for seconds. */
const MAX_LAID_OUT = 256 * 1024;
const BACK = '<p class="back"><a href="../../ui">← All conversations</a></p>';

/** Creates the page of one conversation. The result returns its parts; none if it does not exist. `host`: the checked Host header. */
export function createConversationView(
  parts: ViewParts,
  requestId: string,
  host: string,
): () => Promise<PageParts> {
  const { store } = parts;
  let result: { status: string; html: string } | undefined;
  let question: string | undefined;
  return async () => {
    const shown = await store.overview.find(requestId);
    if (shown === undefined) return new Map();
    const { at, conversation } = shown;
    const { status } = conversation;
    question ??= await renderQuestion(parts, requestId);
    if (result?.status !== status) result = { status, html: await renderResult(parts, conversation) };
    const remote = await store.remote?.read(requestId);
    const now = status === "PROCESSING" ? await store.get(OPERATOR, requestId) : undefined;
    const key = listKeyNames(await store.keys.list()).get(conversation.keyId);
    const facts = { key, remote, progress: now?.progress };
    return new Map([
      ["trouble", ""],
      ["question", question],
      ["facts", renderFacts(conversation, facts, at)],
      ["result", result.html],
      ["curl", renderCommand(conversation, host)],
    ]);
  };
}

async function renderQuestion({ store }: ViewParts, requestId: string): Promise<string> {
  const job = await store.overview.findJob(requestId);
  const headline = shortenLine(job?.prompt ?? "The question was not kept", LONGEST_HEADLINE);
  const whole =
    job === undefined || headline === job.prompt.trim()
      ? ""
      : `\n<div class="plain prompt" dir="auto" tabindex="0">${escapeHtml(job.prompt)}</div>`;
  const schema =
    job?.output_schema === undefined
      ? ""
      : `\n<details><summary>Schema of the result</summary>\n<pre><code>${escapeHtml(indentJson(stringifyExact(job.output_schema), 2))}</code></pre></details>`;
  return `${BACK}\n<h1 dir="auto">${escapeHtml(headline)}</h1>\n<p class="id">${escapeHtml(requestId)}</p>${whole}${schema}`;
}

/** The details of a conversation that the list does not show. */
interface ConversationFacts {
  key: string | undefined;
  remote: RemoteRequest | undefined;
  /** The progress as JSON. */
  progress: string | undefined;
}

function renderFacts(
  conversation: ListedConversation,
  { key, remote, progress }: ConversationFacts,
  now: number,
): string {
  const doing = progress === undefined ? undefined : describeProgress(JSON.parse(progress));
  const { createdAt, endedAt, status, reason } = conversation;
  const { age, pending, processing } = computeStateTimes(conversation, now);
  const rows: [string, string | undefined][] = [
    ["State", renderState(status)],
    ["Doing", doing && escapeHtml(doing)],
    ["Reason", reason && `<span dir="auto">${escapeHtml(reason)}</span>`],
    ["Key", key && escapeHtml(key)],
    ["Works at", remote && escapeHtml(`${remote.provider}${remote.remoteId ? `, ${remote.remoteId}` : ""}`)],
    ["Stopped there", status === "STOPPED" ? escapeHtml(describeUpstreamFate(remote).trim()) : undefined],
    ["Created", `${renderTimestamp(createdAt)}, ${renderDuration("age", age)} ago`],
    ["In PENDING", renderDuration("pending", pending)],
    ["In PROCESSING", processing === undefined ? undefined : renderDuration("processing", processing)],
    ["Ended", endedAt === undefined ? undefined : renderTimestamp(endedAt)],
  ];
  const shown = rows.filter(([, html]) => html).map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`);
  return `<dl class="facts">\n${shown.join("\n")}\n</dl>`;
}

async function renderResult(
  { store }: ViewParts,
  { requestId, status }: ListedConversation,
): Promise<string> {
  if (status !== "COMPLETED") return "";
  const { output, data } = (await store.output(OPERATOR, requestId)) ?? {};
  if (output === undefined) return '<h2>Result</h2>\n<p class="none">It was deleted.</p>';
  const value = output.trimStart().startsWith('"') ? String(JSON.parse(output)) : undefined;
  const { content } = renderResultContent(
    value === undefined ? { kind: "json", text: output } : { kind: "markdown", text: value },
    { longest: MAX_LAID_OUT },
  );
  const used = data === undefined ? undefined : describeUsage(JSON.parse(data).usage);
  const usage = used === undefined ? "" : `\n<p class="none">Used: ${escapeHtml(used)}</p>`;
  return `<h2>Result</h2>\n<main lang="" class="result">\n${content}\n</main>${usage}`;
}

/** Renders a shell command for the next step; empty if there is none. `host` was checked, and the id belongs to a conversation. */
function renderCommand({ requestId, status }: ListedConversation, host: string): string {
  const isDone = status === "COMPLETED";
  if (isFinal(status) && !isDone) return "";
  const [title, verb, path] = isDone
    ? ["Get the result", "output", "output"]
    : ["Wait for it", "watch", "status"];
  const url = `http://${host}/api/v1/conversation/${requestId}/${path}`;
  const command = `research ${verb} ${requestId} --base-url http://${host}`;
  const curl = `curl -H "Authorization: Bearer $RESEARCH_API_KEY" ${url}`;
  const lines = [command, curl].map((line) => `<pre><code>${escapeHtml(line)}</code></pre>`);
  return `<h2>${title}</h2>\n${lines.join("\n")}`;
}

import type { Clock } from "../../../core/clock.js";
import { chooseStateClass } from "../../../core/markdown/html/page-template.js";
import { escapeHtml } from "../../../core/markdown/html/render-blocks.js";
import { formatDuration } from "../../../core/text/time-format.js";
import type { ConversationStore, ListedConversation } from "../../conversations/conversation-store.js";
import type { SingleKey } from "../../http/authentication.js";
import { renderElapsedTime } from "../live-updates.js";

/** What the page reads its data from. */
export interface ViewParts {
  store: Pick<ConversationStore, "readCounts" | "get" | "keys" | "output" | "overview" | "remote">;
  /** The only key of a service to which no keys were added. */
  single: Omit<SingleKey, "hash"> | undefined;
  clock: Clock;
}

/** Returns the age of a conversation and its time in each state, ms; undefined if it never had the state or the time is unknown. */
export function computeStateTimes(
  { createdAt, startedAt, endedAt, status }: ListedConversation,
  now: number,
) {
  const end = endedAt ?? now;
  const wasNotKept = startedAt === undefined && status !== "PENDING" && status !== "STOPPED";
  return {
    age: now - createdAt,
    pending: wasNotKept ? undefined : (startedAt ?? end) - createdAt,
    processing: startedAt === undefined ? undefined : end - startedAt,
  };
}

/** Renders a state in its colour. */
export function renderState(status: string): string {
  const look = status === "PENDING" ? "waiting" : chooseStateClass(status);
  return `<span class="state ${look}">${status}</span>`;
}

/** Renders a duration (ms) that may keep growing, or a dash if it is undefined. `id`: the element's id. */
export function renderDuration(id: string, ms: number | undefined): string {
  if (ms === undefined) return "–";
  return renderElapsedTime(
    escapeHtml(id),
    ms < 1_000 ? `${Math.max(0, Math.round(ms))}ms` : formatDuration(ms),
  );
}

/** Renders a time (epoch ms) as an HTML element. */
export function renderTimestamp(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

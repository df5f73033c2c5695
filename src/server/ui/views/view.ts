import type { Clock } from "../../../core/clock.js";
import { escapeHtml } from "../../../core/markdown/html/blocks.js";
import { chooseStateClass } from "../../../core/markdown/html/page.js";
import { formatDuration } from "../../../core/text/duration.js";
import type { ConversationStore, ListedConversation } from "../../conversations/conversation-store.js";
import type { SingleKey } from "../../http/authentication.js";
import { renderTicking } from "../parts.js";

/** The sources of the page's data. */
export interface ViewParts {
  store: Pick<ConversationStore, "readCounts" | "get" | "keys" | "output" | "overview" | "remote">;
  /** The single key of a service without added keys. */
  single: Omit<SingleKey, "hash"> | undefined;
  clock: Clock;
}

/** How long a conversation was in each state, ms; undefined if it never was, or the time was not kept. */
export function computeTimes({ createdAt, startedAt, endedAt, status }: ListedConversation, now: number) {
  const end = endedAt ?? now;
  const wasNotKept = startedAt === undefined && status !== "PENDING" && status !== "STOPPED";
  return {
    age: now - createdAt,
    pending: wasNotKept ? undefined : (startedAt ?? end) - createdAt,
    processing: startedAt === undefined ? undefined : end - startedAt,
  };
}

/** Renders a state with its colour. */
export function renderState(status: string): string {
  const look = status === "PENDING" ? "waiting" : chooseStateClass(status);
  return `<span class="state ${look}">${status}</span>`;
}

/** Renders a duration (ms) that may keep growing; `id` is that of the element. */
export function renderPassing(id: string, ms: number | undefined): string {
  if (ms === undefined) return "–";
  return renderTicking(escapeHtml(id), ms < 1_000 ? `${Math.max(0, Math.round(ms))}ms` : formatDuration(ms));
}

/** Renders a time (epoch ms) as an element. */
export function renderTime(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

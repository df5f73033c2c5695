import { stateClass } from "../../../ground/markdown/html/page.js";
import type { ListedConversation } from "../../conversations/conversation-store.js";
import { axis, ticks } from "./time-axis.js";

const WIDTH = 1_000;
const HEIGHT = 76;
const TRACK = { top: 38, height: 20 };
const MARK = { radius: 8 };
/** A shorter time is drawn on an axis of this length, ms. */
const SHORTEST = 1_000;

/** The states of a conversation over time as an SVG, from its creation to its end, or to `now` (epoch ms). */
export function statesSvg(conversation: ListedConversation, now: number): string {
  const { createdAt, startedAt, endedAt, status } = conversation;
  const end = Math.max(createdAt, endedAt ?? now);
  const span = Math.max(SHORTEST, end - createdAt);
  const x = (at: number) => Math.round(((at - createdAt) / span) * (WIDTH - MARK.radius) * 10) / 10;
  const bar = (from: number, to: number, look: string, name: string) =>
    `<rect class="${look}" x="${x(from)}" y="${TRACK.top}" width="${Math.max(2, x(to) - x(from))}" height="${TRACK.height}" rx="3"><title>${name}</title></rect>`;
  const middle = TRACK.top + TRACK.height / 2;
  const parts = [
    ...ticks(span).map((tick) => axis(tick, x(createdAt + tick), HEIGHT)),
    bar(createdAt, startedAt ?? end, "waiting", startedAt === undefined ? status : "PENDING"),
    ...(startedAt === undefined ? [] : [bar(startedAt, end, "busy", "PROCESSING")]),
  ];
  if (endedAt !== undefined)
    parts.push(
      `<circle class="${stateClass(status)}" cx="${x(end)}" cy="${middle}" r="${MARK.radius}"><title>${status}</title></circle>`,
    );
  return `<svg class="states" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="The states of the conversation over time">${parts.join("")}</svg>`;
}

import { escapeHtml } from "../../../markdown/html/blocks.js";
import { axis, stateClass, ticks } from "../../../markdown/html/timeline.js";
import { WINDOW_MS } from "../../../protocol/limits.js";
import type { ListedConversation } from "../../conversations/conversation-store.js";

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
  return `<svg class="timeline states" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="The states of the conversation over time">${parts.join("")}</svg>`;
}

const MINUTE_MS = 60_000;
const MINUTES = WINDOW_MS / MINUTE_MS;
const STEP = 10;
const HOUR_HEIGHT = 34;

/** How many requests counted in each minute of the last hour, as an SVG; the last minute is at the right. */
export function hourSvg(times: readonly number[], now: number, label: string): string {
  const last = Math.floor(now / MINUTE_MS);
  const counts = Array.from({ length: MINUTES + 1 }, () => 0);
  for (const at of times) {
    const minute = MINUTES - (last - Math.floor(at / MINUTE_MS));
    if (minute >= 0 && minute <= MINUTES) counts[minute] = (counts[minute] ?? 0) + 1;
  }
  const most = Math.max(4, ...counts);
  const bars = counts.flatMap((count, minute) => {
    if (count === 0) return [];
    const height = Math.max(3, Math.round((count / most) * HOUR_HEIGHT));
    return `<rect x="${minute * STEP}" y="${HOUR_HEIGHT - height}" width="${STEP - 3}" height="${height}" rx="1.5"/>`;
  });
  const [width, y] = [(MINUTES + 1) * STEP, HOUR_HEIGHT + 0.5];
  const base = `<line x1="0" y1="${y}" x2="${width}" y2="${y}"/>`;
  return `<svg class="minutes" viewBox="0 0 ${width} ${HOUR_HEIGHT + 1}" role="img" aria-label="${escapeHtml(label)}">${base}${bars.join("")}</svg>`;
}

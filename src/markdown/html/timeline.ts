import { escapeHtml } from "./blocks.js";

/** A bar of a timeline. Times are epoch milliseconds. */
export interface Bar {
  label: string;
  state: string;
  startedAt: number;
  endedAt: number;
  /** Where a click leads: a URL, relative to the page. */
  href: string;
}

const WIDTH = 1_000;
const AXIS = 24;
/** A bar with its distance to the next one is this high at most; all of them together this high at most. */
const BAR_HEIGHT = 14;
const MAX_HEIGHT = 1_400;
const MAX_TICKS = 8;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The distances that ticks may have, in milliseconds. */
const STEPS = [
  ...[1, 2, 5, 10, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

/** What ran when, as an SVG that a page holds; empty if nothing ran. The axis counts from the first start. */
export function timelineSvg(bars: readonly Bar[]): string {
  if (bars.length === 0) return "";
  const first = bars.reduce((least, bar) => Math.min(least, bar.startedAt), Infinity);
  const last = bars.reduce((most, bar) => Math.max(most, bar.endedAt), first + SECOND);
  const span = last - first;
  const step = Math.min(BAR_HEIGHT, MAX_HEIGHT / bars.length);
  const height = Math.round(AXIS + step * bars.length);
  const x = (at: number) => round(((at - first) / span) * WIDTH);
  const drawn = bars.map((bar, index) => {
    const from = x(bar.startedAt);
    const shape = [
      `x="${from}" y="${round(AXIS + index * step)}"`,
      `width="${round(Math.max(2, x(bar.endedAt) - from))}" height="${round(step * 0.72)}"`,
    ].join(" ");
    const title = `<title>${escapeHtml(bar.label)}: ${escapeHtml(bar.state)}</title>`;
    return `<a href="${escapeHtml(bar.href)}"><rect class="${stateClass(bar.state)}" ${shape} rx="2">${title}</rect></a>`;
  });
  return [
    `<svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="When each question was worked on">`,
    ...ticks(span).map((tick) => axis(tick, x(first + tick), height)),
    ...drawn,
    "</svg>",
  ].join("\n");
}

/** How a state looks: a class of the page's style. */
export function stateClass(state: string): "done" | "bad" | "idle" | "busy" {
  if (state === "COMPLETED") return "done";
  if (state === "PENDING" || state === "PROCESSING") return "busy";
  return state === "STOPPED" || state === "WAITING" ? "idle" : "bad";
}

/** Times since the start, in milliseconds, that divide a span into at most eight parts. */
export function ticks(span: number): number[] {
  const step = STEPS.find((candidate) => span / candidate <= MAX_TICKS) ?? span / MAX_TICKS;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
}

/** A tick of an axis, with its label; `x` is of 1000. */
export function axis(tick: number, x: number, height: number): string {
  const anchor = x === 0 ? "start" : x > WIDTH - 30 ? "end" : "middle";
  return (
    `<line x1="${x}" y1="${AXIS - 6}" x2="${x}" y2="${height}"/>` +
    `<text x="${x}" y="12" text-anchor="${anchor}">${label(tick)}</text>`
  );
}

function label(tick: number): string {
  if (tick === 0) return "start";
  const parts: [number, string][] = [
    [Math.floor(tick / DAY), "d"],
    [Math.floor((tick % DAY) / HOUR), "h"],
    [Math.floor((tick % HOUR) / MINUTE), "m"],
    [Math.round((tick % MINUTE) / SECOND), "s"],
  ];
  return parts.flatMap(([count, unit]) => (count > 0 ? [`${count}${unit}`] : [])).join(" ");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

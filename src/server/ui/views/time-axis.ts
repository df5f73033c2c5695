const WIDTH = 1_000;
const AXIS = 24;
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

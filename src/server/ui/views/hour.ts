import { escapeHtml } from "../../../markdown/html/escape.js";
import { WINDOW_MS } from "../../../protocol/limits.js";

const MINUTE_MS = 60_000;
const MINUTES = WINDOW_MS / MINUTE_MS;
const STEP = 10;
const HEIGHT = 34;

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
    const height = Math.max(3, Math.round((count / most) * HEIGHT));
    return `<rect x="${minute * STEP}" y="${HEIGHT - height}" width="${STEP - 3}" height="${height}" rx="1.5"/>`;
  });
  const [width, y] = [(MINUTES + 1) * STEP, HEIGHT + 0.5];
  const base = `<line x1="0" y1="${y}" x2="${width}" y2="${y}"/>`;
  return `<svg class="minutes" viewBox="0 0 ${width} ${HEIGHT + 1}" role="img" aria-label="${escapeHtml(label)}">${base}${bars.join("")}</svg>`;
}

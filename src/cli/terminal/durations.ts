export { formatDuration, formatLimit } from "../../text/duration.js";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `500ms`, `30s`, `10m`, `2h`, `3d` or a bare number of seconds as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(text);
  if (!match) return undefined;
  return Number(match[1]) * UNITS[(match[2] as keyof typeof UNITS | undefined) ?? "s"];
}

/** Epoch milliseconds as ISO 8601 in UTC; a word if that is beyond all dates. */
export function isoDate(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "beyond all dates" : date.toISOString();
}

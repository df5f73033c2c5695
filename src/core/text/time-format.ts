const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `500ms`, `30s`, `10m`, `2h`, `3d` or a bare number of seconds as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(text);
  if (!match) return undefined;
  return Number(match[1]) * UNITS[(match[2] as keyof typeof UNITS | undefined) ?? "s"];
}

/** Formats epoch milliseconds as ISO 8601 in UTC; "beyond all dates" if JavaScript has no such date. */
export function formatIsoDate(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "beyond all dates" : date.toISOString();
}

/** Formats a duration (ms) exactly, in the largest unit that needs no fraction: `30d`, `90m`, `1500ms`. */
export function formatExactDuration(ms: number): string {
  const units = Object.entries(UNITS).toReversed();
  const [unit, size] = units.find(([, size]) => ms % size === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

/** Formats a duration (ms) for people, rounded down: `0s`, `42s`, `3m 05s`, `2h 04m`, `3d 01h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const padTwo = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${padTwo(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${padTwo(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${padTwo(hours % 24)}h`;
}

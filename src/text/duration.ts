/** A time limit (ms) as its user gave it: `500ms`, `1.5s`, and from a minute as `formatDuration`. */
export function formatLimit(ms: number): string {
  if (ms < 1_000) return `${Number(ms.toFixed(3))}ms`;
  return ms < 60_000 ? `${ms / 1_000}s` : formatDuration(ms);
}

/** A length of time (ms) for people: `0s`, `42s`, `3m 05s`, `2h 04m`, `3d 01h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`;
}

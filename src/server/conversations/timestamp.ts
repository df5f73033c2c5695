/** §2: ISO 8601 with a UTC offset and fractional seconds, of an epoch time in ms. */
export function timestamp(at: number): string {
  return new Date(at).toISOString().replace("Z", "+00:00");
}

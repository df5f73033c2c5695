/** Returns whether a text can be a key in a header: visible ASCII without spaces. */
export function isKeyText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** A shorter key is not hidden, because that would garble sentences that contain it by chance. */
const SHORTEST = 4;
const PLACEHOLDER = "[key]";

/** How services mask the middle of a key, and how many characters they show on either side. */
const GAP = "(?:[*•…]+|\\.{2,})";
const LEAST_AROUND = 2;
const MOST_AROUND = 64;

/**
 * Returns a function that hides `key` in messages and traces: as it is, percent-encoded, in base64, and masked with its
 * first and last characters around a gap. Do not use it for results, ids and data.
 */
export function createKeyHider(key: string): (text: string) => string {
  if (key.length < SHORTEST) return (text) => text;
  const encodings = [key, encodeURIComponent(key), Buffer.from(key).toString("base64").replace(/=+$/, "")];
  const whole = encodings.sort((a, b) => b.length - a.length).map(escapeForPattern);
  const first = Array.from(key.slice(0, MOST_AROUND), escapeForPattern);
  const last = Array.from(key.slice(-MOST_AROUND), escapeForPattern);
  const head = first.reduceRight(
    (rest, each, at) => (at < LEAST_AROUND ? each + rest : `(?:${each}${rest})?`),
    "",
  );
  const tail = last.reduce(
    (rest, each, at) => (last.length - at <= LEAST_AROUND ? rest + each : `(?:${rest}${each})?`),
    "",
  );
  const pattern = new RegExp([...whole, head + GAP + tail].join("|"), "gi");
  return (text) => text.replace(pattern, PLACEHOLDER);
}

function escapeForPattern(text: string): string {
  return text.replace(/[^\w%]/g, "\\$&");
}

/** Returns whether a text can be sent as a key in a header: visible ASCII without spaces. */
export function isSendableKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** The length of the shortest key that is hidden, because a shorter one may occur in any sentence by chance. */
const SHORTEST = 4;
const PLACEHOLDER = "[key]";

/** What services write in place of the middle of a key, and how many characters they show before and after it. */
const GAP = "(?:[*•…]+|\\.{2,})";
const LEAST_AROUND = 2;
const MOST_AROUND = 64;

/**
 * Returns a function that hides `key` in messages and traces: plain, percent-encoded, in base64, or masked, with only its
 * first and last characters. Do not use it for results, ids and data.
 */
export function createKeyHider(key: string): (text: string) => string {
  if (key.length < SHORTEST) return (text) => text;
  const encodings = [key, encodeURIComponent(key), Buffer.from(key).toString("base64").replace(/=+$/, "")];
  const whole = encodings.sort((a, b) => b.length - a.length).map(escapeRegExp);
  const first = Array.from(key.slice(0, MOST_AROUND), escapeRegExp);
  const last = Array.from(key.slice(-MOST_AROUND), escapeRegExp);
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

function escapeRegExp(text: string): string {
  return text.replace(/[^\w%]/g, "\\$&");
}

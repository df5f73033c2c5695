/** Whether a text can be a key in a header: visible ASCII without spaces. */
export function isKeyText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** A shorter text is not hidden: hiding it would garble sentences that merely contain it. */
const SHORTEST = 4;
const PLACEHOLDER = "[key]";

/** How services leave the middle of a key out, and how much they show around it, in characters. */
const GAP = "(?:[*•…]+|\\.{2,})";
const LEAST_AROUND = 2;
const MOST_AROUND = 64;

/**
 * Hides `key` in sentences and traces: as it is, percent-encoded, in base64, and its first and last characters around a
 * gap, as services quote it. Results, ids and data are not for it.
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

/** Whether a text can be a key in a header: visible ASCII without spaces. */
export function isKeyText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** A shorter text is not hidden: hiding it would garble sentences that merely contain it. */
const SHORTEST = 4;
const PLACEHOLDER = "[key]";

/** Hides `key` in sentences and traces, as it is, percent-encoded, and in base64. Results, ids and data are not for it. */
export function keyHider(key: string): (text: string) => string {
  if (key.length < SHORTEST) return (text) => text;
  const forms = [...new Set([key, encodeURIComponent(key), ...base64Forms(key)])];
  forms.sort((a, b) => b.length - a.length);
  const escaped = forms.map((form) =>
    form.replace(/[^\w%]/g, "\\$&").replace(/%([\dA-F]{2})/g, (_, hex) => `%(?:${hex}|${hex.toLowerCase()})`),
  );
  const pattern = new RegExp(escaped.join("|"), "g");
  return (text) => text.replace(pattern, PLACEHOLDER);
}

/** The key in base64 and base64url: for each place in a group of three bytes, the digits of the key alone. */
function base64Forms(key: string): string[] {
  const digits = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]).toString("base64");
    const isShared = (before + key.length) % 3 !== 0;
    return whole.replace(/=+$/, "").slice([0, 2, 3][before], isShared ? -1 : undefined);
  });
  return [...digits, ...digits.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

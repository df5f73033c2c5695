/** What a page says of its own encoding has to stand in its first 1,024 bytes (HTML, "determining the character encoding"). */
const SNIFFED = 1_024;
const META = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;
const XML = /^<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})/i;

export const NOT_TEXT = "not text";

/**
 * Bytes as text, or why they are none. The encoding is that of a byte order mark, else `charset` (as the sender of the
 * bytes names it), else what the page says of itself, else UTF-8. Bytes that are invalid in it are not text.
 */
export function decodeText(bytes: Uint8Array, charset?: string): { text: string } | { reason: string } {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFFED)).toString(
    "latin1",
  );
  const label = markOf(head) ?? charset ?? ownOf(head) ?? "utf-8";
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    // In one call Node takes windows-1252 for Latin-1 (nodejs/node#56542).
    const text = decoder.decode(bytes, { stream: true }) + decoder.decode();
    return text.includes("\0") ? { reason: NOT_TEXT } : { text };
  } catch (error) {
    if (error instanceof RangeError) return { reason: `its charset is unknown: ${label}` };
    return { reason: /^utf-?8$/i.test(label) ? "not UTF-8 text" : `not text in its charset, ${label}` };
  }
}

/** The encoding that a byte order mark names. */
function markOf(head: string): string | undefined {
  if (head.startsWith("\xef\xbb\xbf")) return "utf-8";
  if (head.startsWith("\xff\xfe")) return "utf-16le";
  return head.startsWith("\xfe\xff") ? "utf-16be" : undefined;
}

/** The one that a page names: in single bytes, so it is not UTF-16, whatever it says. */
function ownOf(head: string): string | undefined {
  const label = META.exec(head)?.[1] ?? XML.exec(head)?.[1];
  return /^utf-?16/i.test(label ?? "") ? "utf-8" : label;
}

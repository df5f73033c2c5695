/** GitHub drops a summary of over 1 MiB whole; this leaves room for other steps. */
const MAX_BYTES = 900_000;

/**
 * The summary of a result: its text, cut at the end of a line, JSON in a code block.
 * @param {string} text
 * @param {string} file the name of the result's file, for the note where it is cut
 */
export function summaryOf(text, file) {
  const cut = cutAtLine(text, MAX_BYTES);
  const body = isJson(text) ? fenced(cut) : `${cut.trimEnd()}\n`;
  return cut === text ? body : `${body}\n_Cut here. The whole result is in ${codeSpan(file)}._\n`;
}

/**
 * The longest beginning of `text` that ends with a line and has at most `maxBytes` bytes in UTF-8; a first line
 * that is longer is cut between two characters.
 * @param {string} text
 * @param {number} maxBytes
 */
export function cutAtLine(text, maxBytes) {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const end = bytes.subarray(0, maxBytes).lastIndexOf(0x0a) + 1;
  if (end > 0) return bytes.subarray(0, end).toString("utf8");
  return bytes
    .subarray(0, maxBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
}

/** @param {string} text */
function isJson(text) {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * A code block whose fence is longer than any in the text.
 * @param {string} text
 */
function fenced(text) {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}json\n${text.trimEnd()}\n${fence}\n`;
}

/** @param {string} text */
function codeSpan(text) {
  const ticks = "`".repeat(longestRun(text) + 1);
  return `${ticks} ${text.replace(/\s+/g, " ")} ${ticks}`;
}

/** @param {string} text */
function longestRun(text) {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
}

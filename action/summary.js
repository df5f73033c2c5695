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
 * The summary of a batch: how many ended in which state, and a row for each question.
 * @param {string} results the text of its results.jsonl, in which the last line of a row holds
 * @param {string} folder
 */
export function batchSummary(results, folder) {
  /** @type {Map<string, { prompt: string, status: string, file: string | null }>} */
  const rows = new Map();
  // The last line may be cut.
  for (const line of results.slice(0, results.lastIndexOf("\n")).split("\n")) {
    const row = JSON.parse(line);
    rows.set(row.row, row);
  }
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { status } of rows.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
  const lines = Array.from(
    rows.values(),
    ({ prompt, status, file }) =>
      `| ${cell(prompt)} | ${cell(status)} | ${file === null ? "" : cell(file)} |\n`,
  );
  const table = `| question | state | file |\n|---|---|---|\n${lines.join("")}`;
  const cut = cutAtLine(table, MAX_BYTES);
  const note = cut === table ? "" : "\n_Cut here. The folder has all of them._\n";
  const total = Array.from(counts, ([status, count]) => `${count} ${status}`).join(", ");
  return `**${total}** in ${codeSpan(folder)}\n\n${cut}${note}`;
}

/** The longest text of a cell, in characters. */
const MAX_CELL = 200;

/**
 * A text as code, which a table shows as it is.
 * @param {string} text
 */
function cell(text) {
  const characters = [...text];
  const short = characters.length > MAX_CELL ? `${characters.slice(0, MAX_CELL).join("")}…` : text;
  return codeSpan(short).replaceAll("|", "\\|");
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

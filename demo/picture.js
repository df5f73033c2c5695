import { record } from "./record.js";
import { terminalSvg } from "./svg.js";

/** @typedef {import("./record.js").Run} Run */

const PLAIN = { color: -1, bold: false, dim: false, italic: false, underline: false };
const TITLE = "A terminal: a question is asked, the research is waited for, and a cited answer is read.";

/**
 * A session of the built program as two pictures: the command, the line while it waits, and the answer.
 * @returns {Promise<Record<"light" | "dark", string>>}
 */
export async function pictures() {
  const { command, waiting, lines } = await record();
  /** @type {Run[]} */
  const typed = [
    { ...PLAIN, text: "$ ", dim: true },
    { ...PLAIN, text: command, bold: true },
  ];
  const [created = [], ...answer] = lines;
  const all = [typed, created, waiting, [], ...answer];
  return { light: terminalSvg(all, "light", TITLE), dark: terminalSvg(all, "dark", TITLE) };
}

/**
 * The text of a picture, a line for each of its lines, with ids, times and the spinner masked: those differ from
 * session to session.
 * @param {string} svg
 */
export function textOfPicture(svg) {
  const rows = Array.from(svg.matchAll(/<text[^>]*>(.*?)<\/text>/g), ([, row = ""]) =>
    row.replace(/<[^>]*>/g, ""),
  );
  return rows
    .join("\n")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
    .replace(/\b(\d+h )?(\d+m )?\d+s\b/g, "TIME")
    .replace(/[\u2800-\u28ff]/g, "*");
}

import { record } from "./record.js";
import { terminalSvg } from "./svg.js";

/** @typedef {import("./record.js").Run} Run */

const PLAIN = { color: -1, bold: false, dim: false, italic: false, underline: false };
const TITLE =
  "A terminal: a login at a provider, a question, the cited report, what it cost, and the list of requests.";

/**
 * A session of the built program as two pictures: each command, the line while it waits, and what it shows.
 * @returns {Promise<Record<"light" | "dark", string>>}
 */
export async function pictures() {
  const all = (await record()).flatMap(({ command, waiting, lines: [first = [], ...rest] }) => [
    [
      { ...PLAIN, text: "$ ", dim: true },
      { ...PLAIN, text: command, bold: true },
    ],
    first,
    ...(waiting.length > 0 ? [waiting] : []),
    ...rest,
    [],
  ]);
  all.pop();
  return { light: terminalSvg(all, "light", TITLE), dark: terminalSvg(all, "dark", TITLE) };
}

/**
 * The text of a picture, a line for each of its lines, with times and the spinner masked: those differ from
 * session to session.
 * @param {string} svg
 */
export function textOfPicture(svg) {
  const rows = Array.from(svg.matchAll(/<text[^>]*>(.*?)<\/text>/g), ([, row = ""]) =>
    row.replace(/<[^>]*>/g, ""),
  );
  return rows
    .join("\n")
    .replace(/\b(\d+h )?(\d+m )?\d+s\b/g, "TIME")
    .replace(/[\u2800-\u28ff]/g, "*");
}

import { minifySync, parseSync } from "rolldown/utils";

/** How long a line of the library may become before the next statement begins another one, in characters. */
const LINE_LENGTH = 600;

/**
 * Removes the white space of every chunk. Node prints the line of code at which an uncaught error was thrown, so in the
 * chunks whose name is in `library` the lines are short; the program catches every error.
 *
 * @param {readonly string[]} library
 * @returns {import("rolldown").Plugin}
 */
export function removeWhitespace(library) {
  return {
    name: "remove-whitespace",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        const options = { module: true, compress: false, mangle: false, codegen: { removeWhitespace: true } };
        const { code } = minifySync(chunk.fileName, chunk.code, options);
        chunk.code = library.includes(chunk.name) ? statementsOnLines(chunk.fileName, code) : code;
      }
    },
  };
}

/**
 * A line break between two statements or members of a class changes no meaning.
 *
 * @param {string} name
 * @param {string} code
 */
function statementsOnLines(name, code) {
  /** @type {Set<number>} */
  const starts = new Set();
  collect(parseSync(name, code).program, starts);
  const lines = [];
  let begin = 0;
  for (const start of [...starts].sort((a, b) => a - b)) {
    if (start - begin < LINE_LENGTH) continue;
    lines.push(code.slice(begin, start));
    begin = start;
  }
  return [...lines, code.slice(begin)].join("\n");
}

/**
 * @param {unknown} node
 * @param {Set<number>} starts where statements and members of classes begin
 */
function collect(node, starts) {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (Array.isArray(value)) {
      for (const child of value) {
        if ((key === "body" || key === "consequent") && typeof child?.start === "number")
          starts.add(child.start);
        collect(child, starts);
      }
    } else collect(value, starts);
  }
}

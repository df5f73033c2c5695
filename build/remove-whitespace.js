import { minifySync, parseSync } from "rolldown/utils";

/**
 * Removes the white space of every chunk. Node prints the line of code at which an uncaught error was thrown, so in the
 * chunks whose name is in `library` each statement has a line of its own; the program catches every error.
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
  let lines = "";
  let end = code.length;
  for (const start of [...starts].sort((a, b) => b - a)) {
    lines = `\n${code.slice(start, end)}${lines}`;
    end = start;
  }
  return (code.slice(0, end) + lines).trimStart();
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

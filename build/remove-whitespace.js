import { minifySync } from "rolldown/utils";

/**
 * Removes the white space of every chunk but those whose name is in `readable`. Node prints the line of code at which
 * an uncaught error was thrown, so chunks of the library keep their lines; the program catches every error.
 *
 * @param {readonly string[]} readable
 * @returns {import("rolldown").Plugin}
 */
export function removeWhitespace(readable) {
  return {
    name: "remove-whitespace",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk" || readable.includes(chunk.name)) continue;
        const options = { module: true, compress: false, mangle: false, codegen: { removeWhitespace: true } };
        chunk.code = minifySync(chunk.fileName, chunk.code, options).code;
      }
    },
  };
}

import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** @typedef {{ name: string, enforce: "pre", load(id: string): { code: string, moduleType: "js" } | null }} Loader */

/**
 * Lets code import a file as text with `?raw` behind its name, as Vite and so the tests do by themselves: CSS, SQL and
 * shell scripts are files of their own kind, and strings in the bundle.
 */
export function filesAsText() {
  return loader("files-as-text", /\?raw$/, (text) => JSON.stringify(text));
}

/** Lets code import a YAML file as data, so that what is shipped as YAML is in the bundle without a parser. For rolldown and vitest alike. */
export function yamlAsData() {
  return loader(
    "yaml-as-data",
    /\.yaml$/,
    (text) => `JSON.parse(${JSON.stringify(JSON.stringify(parse(text)))})`,
  );
}

/**
 * @param {string} name
 * @param {RegExp} of ids of modules
 * @param {(text: string) => string} expressionOf a file's text as an expression
 * @returns {Loader}
 */
function loader(name, of, expressionOf) {
  return {
    name,
    enforce: "pre",
    load(id) {
      if (!of.test(id)) return null;
      return {
        code: `export default ${expressionOf(readFileSync(id.replace(/\?.*/, ""), "utf8"))};`,
        moduleType: "js",
      };
    },
  };
}

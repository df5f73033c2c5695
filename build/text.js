import { readFileSync } from "node:fs";

/**
 * Lets code import a file as text, with `?text` behind its name: what a browser is sent is a file of its own kind
 * here, and a string in the bundle. For rolldown and vitest alike.
 *
 * @returns {{ name: string, enforce: "pre", load(id: string): { code: string, moduleType: "js" } | null }}
 */
export function filesAsText() {
  return {
    name: "files-as-text",
    enforce: "pre",
    load(id) {
      const [path = "", query] = id.split("?");
      if (query !== "text") return null;
      return { code: `export default ${JSON.stringify(readFileSync(path, "utf8"))};`, moduleType: "js" };
    },
  };
}

import { readFileSync } from "node:fs";
import { parse } from "yaml";

/**
 * Lets code import a YAML file as data, so that what is shipped as YAML is also in the bundle without a parser.
 * For rolldown and vitest alike.
 *
 * @returns {{ name: string, load(id: string): { code: string, moduleType: "js" } | null }}
 */
export function yamlAsData() {
  return {
    name: "yaml-as-data",
    load(id) {
      const [path = ""] = id.split("?");
      if (!path.endsWith(".yaml")) return null;
      const text = JSON.stringify(JSON.stringify(parse(readFileSync(path, "utf8"))));
      return { code: `export default JSON.parse(${text});`, moduleType: "js" };
    },
  };
}

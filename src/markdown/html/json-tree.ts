import { forEachToken } from "../../json/tokens.js";

/** JSON as it was written: numbers digit by digit, members in their order, a name as often as it stands there. */
export type JsonTree =
  | { kind: "object"; members: [name: string, value: JsonTree][] }
  | { kind: "array"; items: JsonTree[] }
  | { kind: "string"; text: string }
  /** A number, `true`, `false` or `null`, as its token. */
  | { kind: "literal"; token: string };

/** Reads a JSON text, which must be valid. Needs no stack, however deep it nests. */
export function jsonTree(text: string): JsonTree {
  const root: JsonTree[] = [];
  const open: { items: JsonTree[]; names: string[]; isObject: boolean }[] = [];
  let items = root;
  let name: string | undefined;
  const add = (tree: JsonTree) => items.push(tree);
  forEachToken(text, (start, end) => {
    const token = text.slice(start, end);
    const current = open.at(-1);
    if (token === "{" || token === "[") {
      open.push({ items: [], names: [], isObject: token === "{" });
      items = open.at(-1)?.items ?? root;
      name = undefined;
    } else if (token === "}" || token === "]") {
      open.pop();
      items = open.at(-1)?.items ?? root;
      if (current) add(closed(current));
      name = undefined;
    } else if (token === ",") {
      name = undefined;
    } else if (token !== ":") {
      const isName = current?.isObject === true && name === undefined;
      const value = token.startsWith('"') ? String(JSON.parse(token)) : undefined;
      if (isName) {
        name = value ?? token;
        current.names.push(name);
      } else {
        add(value === undefined ? { kind: "literal", token } : { kind: "string", text: value });
      }
    }
  });
  return root[0] ?? { kind: "literal", token: "null" };
}

function closed({
  items,
  names,
  isObject,
}: {
  items: JsonTree[];
  names: string[];
  isObject: boolean;
}): JsonTree {
  if (!isObject) return { kind: "array", items };
  return { kind: "object", members: items.map((item, index) => [names[index] ?? "", item]) };
}

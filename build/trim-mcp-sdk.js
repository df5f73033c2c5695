/** The methods and notifications of the protocol that a server with nothing but tools never meets. */
const NOT_SERVED =
  /^\t+"(?:(?:prompts|resources|completion|logging|tasks|sampling|elicitation|roots)\/[\w/]+|notifications\/(?:roots|tasks|message|resources|prompts|elicitation)[\w/]*)": (?:null|[\w$.]+),?\n/gm;

/**
 * The part of the MCP SDK that holds the schemas of the protocol, with those of tools only. Throws if it has another
 * form than the one known.
 *
 * @param {string} code
 */
export function schemasOfTools(code) {
  const rest = withoutRegions(code, {
    // Checks of every type of the protocol for users of the SDK, and what HTTP needs.
    "types/specTypeSchema.ts": "const specTypeSchemas = {}; const isSpecType = {};",
    "content-type/index.js": "",
    "shared/mediaType.ts": "const mediaTypeEssence = () => {}; const isJsonContentType = () => false;",
    "shared/mcpParamHeaders.ts":
      "const scanXMcpHeaderDeclarations = () => {}; const validateMcpParamHeaders = () => {};",
    // Questions to the client.
    "rev2026-07-28/inputRequired.ts":
      "const getInputRequestSchema2026 = () => {}, getInputResponseSchema2026 = () => {}, warmInputSchemaMaps2026 = () => {};",
  }).replace(NOT_SERVED, "");
  const builders = /^function build(?:\$1)?\(\) \{\n(.*?)^\treturn \{\n(.*?)^\t\};\n\}$/gms;
  const outside = rest.replace(builders, "");
  const used = new Set(
    Array.from(outside.matchAll(/\b(?:s|buildSchemas\d+\(\))\.(\w+)/g), ([, name]) => name),
  );
  let found = 0;
  const result = rest.replace(builders, (whole, body, returned) => {
    found += 1;
    const entries = returned.split(/^(?=\t\t[\w$]+(?:[:,]|$))/m).filter((/** @type {string} */ entry) => {
      const name = /^\t\t([\w$]+)/.exec(entry)?.[1] ?? "";
      return used.has(name) && !name.startsWith("CreateMessage");
    });
    const statements = body.split(/^(?=\t(?:const|function) )/m);
    const kept = reachable(statements, entries.join(""));
    return `${whole.slice(0, whole.indexOf("\n"))}\n${kept.join("")}\treturn {\n${entries.join("")}\t};\n}`;
  });
  if (found !== 2) throw new Error(`${found} of the 2 builders of schemas were found`);
  return result;
}

/**
 * Those of `statements`, each of which declares a name, that `from` needs.
 *
 * @param {readonly string[]} statements
 * @param {string} from
 */
function reachable(statements, from) {
  const names = (/** @type {string} */ text) => text.match(/[\w$]+/g) ?? [];
  const byName = new Map(
    statements.map((text) => [/^\t(?:const|function) ([\w$]+)/.exec(text)?.[1] ?? "", text]),
  );
  const needed = new Set(names(from));
  for (const name of needed) for (const next of names(byName.get(name) ?? "")) needed.add(next);
  return [...byName].filter(([name]) => needed.has(name) || name === "").map(([, text]) => text);
}

/**
 * Lets what is not used of a module of schemas go: each is made by calls that have no other effect.
 *
 * @param {string} code
 */
export function pureSchemas(code) {
  return code.replace(
    /^const (\w+Schema) = (.*?);\n(?=\n?[^\s}])/gms,
    (_, name, value) => `const ${name} = /* @__PURE__ */ (() => ${value})();\n`,
  );
}

/**
 * A bundle of the SDK in which files, which it names in comments, are replaced. Throws if one is not in it.
 *
 * @param {string} code
 * @param {Record<string, string>} replaced by the ending of a file's name
 */
function withoutRegions(code, replaced) {
  let rest = code;
  for (const [file, instead] of Object.entries(replaced)) {
    const start = rest.indexOf(`${file}\n`);
    const end = rest.indexOf("//#endregion", start);
    if (start < 0 || end < 0) throw new Error(`${file} is not in the bundle`);
    rest = `${rest.slice(0, start)}${file}\n${instead}\n${rest.slice(end)}`;
  }
  return rest;
}

import { readFileSync } from "node:fs";
import { pureSchemas, schemasOfTools } from "./trim-mcp-sdk.js";

/**
 * Modules that bundled libraries require at once and this program never uses, with the value that replaces each: on
 * Node 22, `node:http2` alone takes as long to load as all of a `status` beside it. Keys are path endings.
 *
 * @type {Record<string, Record<string, string>>}
 */
const UNUSED = {
  "undici/lib/dispatcher/client.js": {
    // Offered to a service only with `allowH2`, which nothing here sets.
    "./client-h2.js": "undefined",
    // Asked for the default limit of an answer's headers, in bytes.
    "node:http": "{ maxHeaderSize: 16_384 }",
  },
  // Streams and forms as bodies of requests; ours are strings.
  "undici/lib/dispatcher/client-h1.js": {
    "../web/fetch/body.js": "{}",
    // The same parser once more, for processors with SIMD; one copy is 24 kB of the package.
    "../llhttp/llhttp_simd-wasm.js": 'require("../llhttp/llhttp-wasm.js")',
  },
  // Asked whether a body is a message of that module.
  "undici/lib/core/util.js": { "node:http": "{ IncomingMessage: class {} }" },
  "commander/lib/command.js": {
    // Asking for the module of that name instead of the global opens every standard stream.
    "node:process": "globalThis.process",
    // For commands that are programs of their own; ours are functions.
    "node:child_process": "{}",
  },
};

/**
 * Files of libraries that are more than this program has a use for, and what is left of each.
 *
 * @type {Record<string, (code: string) => string>}
 */
const CUT = {
  // A hundred spinners, of which ora takes the first of these, or the other where there is no Unicode.
  "cli-spinners/spinners.json": (code) => {
    const { dots, line } = JSON.parse(code);
    return JSON.stringify({ dots, line });
  },
  // Only for schemas with `discriminator`, an option that is never set.
  "ajv/dist/vocabularies/discriminator/index.js": () => "exports.default = {};",
  // For migrations of settings between versions of a program; conf is told of none.
  "semver/index.js": () => "module.exports = {};",
  // Summaries, a push gateway, clusters and the metrics of Node; a service here has counters, gauges and histograms.
  "prom-client/index.js": () =>
    ["registry", "counter", "gauge", "histogram"]
      .map((name) => `exports.${name[0]?.toUpperCase()}${name.slice(1)} = require("./lib/${name}");`)
      .join("\n"),
  // Holds what a client answers to a question of the server against a schema; this server asks none.
  "@modelcontextprotocol/server/dist/shimsNode.mjs": () =>
    "export const process = globalThis.process; export class DefaultJsonSchemaValidator {}",
  // The server's classes for tools, resources, prompts and questions; this one handles its two methods itself.
  "@modelcontextprotocol/server/dist/mcp-oHn3ureC.mjs": (code) =>
    without(
      without(
        code,
        /^var (?:McpServer|LegacyInputRequiredShim|PerRequestHTTPServerTransport) = class \{$.*?^\};$/gms,
        3,
      ),
      /^\tasync (?:createMessage|_sendElicitationLeg|elicitInput|listRoots|sendLoggingMessage)\(.*?\) \{$.*?^\t\}$/gms,
      5,
    ),
  "@modelcontextprotocol/server/dist/src-DdvbAHrR.mjs": schemasOfTools,
  "@modelcontextprotocol/core/dist/schemas-DscsoNZN.mjs": pureSchemas,
  // Formats of a text, of which the schemas of the protocol ask for that of a URL only.
  "zod/v4/classic/schemas.js": (code) =>
    without(code, /^ {4}(?!url\()\w+\(params\) \{\n {8}return this\.check\(core\._\w+\(Zod.*\n {4}\}/gm, 25),
  // The making of JSON Schemas from those of zod.
  "zod/v4/core/json-schema-processors.js": emptyFunctions,
  "zod/v4/core/to-json-schema.js": emptyFunctions,
};

/**
 * The classes or methods that `pattern` finds, without what is in them. Throws unless there are `count`.
 *
 * @param {string} code
 * @param {RegExp} pattern
 * @param {number} count
 */
function without(code, pattern, count) {
  let found = 0;
  const rest = code.replace(pattern, (whole) => {
    found += 1;
    return `${whole.slice(0, whole.indexOf(" {\n"))} {}${whole.endsWith(";") ? ";" : ""}`;
  });
  if (found !== count) throw new Error(`${found} of ${count} were found: ${pattern}`);
  return rest;
}

/**
 * The exports of a module of functions, as functions that do nothing.
 *
 * @param {string} code
 */
function emptyFunctions(code) {
  const names = Array.from(code.matchAll(/^export (?:const|function) (\w+)/gm), ([, name]) => name);
  const aliases = Array.from(code.matchAll(/^export \{ (\w+ as )?(\w+) \};/gm), ([, , name]) => name);
  const empty = names.map((name) => `export const ${name} = () => () => ({});`);
  return [...empty, ...aliases.map((name) => `const empty = () => {}; export { empty as ${name} };`)].join(
    "\n",
  );
}

const REQUIRE = /\brequire\((['"])([\w./:-]+)\1\)/g;

/**
 * A rolldown plugin that leaves out what libraries load and this program does not use. A `require` of a module of
 * Node becomes `process.getBuiltinModule`: as lazy as before, and the bundle needs no `require` of its own, which
 * costs more than most of what it would load. The build fails if a library no longer requires an entry of the
 * table.
 *
 * @returns {import("rolldown").Plugin}
 */
export function trimDependencies() {
  const idle = new Set([
    ...Object.keys(CUT),
    ...Object.entries(UNUSED).flatMap(([file, parts]) => keys(file, parts)),
  ]);
  return {
    name: "trim-dependencies",
    load: {
      filter: { id: /node_modules/ },
      handler(id) {
        const [file, cut] = Object.entries(CUT).find(([ending]) => id.endsWith(`/${ending}`)) ?? [];
        if (!file || !cut) return null;
        idle.delete(file);
        return { code: cut(readFileSync(id, "utf8")), moduleType: file.endsWith(".json") ? "json" : "js" };
      },
    },
    transform: {
      filter: { id: /node_modules.*\.c?js$/, code: "require(" },
      handler(code, id) {
        const [file, parts] = Object.entries(UNUSED).find(([ending]) => id.endsWith(ending)) ?? ["", {}];
        const lean = code.replaceAll(REQUIRE, (whole, _quote, source) => {
          idle.delete(`${file} ${source}`);
          if (parts[source]) return `(${parts[source]})`;
          return source.startsWith("node:") ? `globalThis.process.getBuiltinModule("${source}")` : whole;
        });
        return { code: lean, map: null };
      },
    },
    buildEnd(error) {
      if (!error && idle.size > 0)
        throw new Error(`entries that no library requires any more: ${[...idle].join(", ")}`);
    },
  };
}

/**
 * @param {string} file
 * @param {Record<string, string>} parts
 */
function keys(file, parts) {
  return Object.keys(parts).map((source) => `${file} ${source}`);
}

import { readFileSync } from "node:fs";

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
  // For migrations of settings between versions of a program; conf is told of none.
  "semver/index.js": () => "module.exports = {};",
};

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

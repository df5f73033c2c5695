/**
 * A module that the library `of` loads at its start and this program never uses, and the `code` that stands for it.
 * `npm run bench` shows how much earlier each lets the command `sooner` end.
 * @typedef {{ of: string, module: string, code: string, sooner: string[] }} StandIn
 */

const STATUS = ["status", "3f2a0000-0000-4000-8000-000000000000"];

/** @type {readonly StandIn[]} */
export const STAND_INS = [
  // Offered to a service only with `allowH2`, which nothing here sets.
  { of: "undici", module: "./client-h2.js", code: "", sooner: STATUS },
  // The parser of HTTP with SIMD. Without it undici takes the plain one, as on machines that have no SIMD.
  { of: "undici", module: "../llhttp/llhttp_simd-wasm.js", code: "", sooner: STATUS },
  // For bodies of other kinds than text, and nothing here sends one.
  { of: "undici", module: "../web/fetch/body.js", code: "", sooner: STATUS },
  // Asked for the default limit of an answer's headers, in bytes, and whether a body is a message of that module.
  {
    of: "undici",
    module: "node:http",
    code: "exports.maxHeaderSize = 16_384; exports.IncomingMessage = class {};",
    sooner: STATUS,
  },
  // For commands that are programs of their own; ours are functions.
  { of: "commander", module: "node:child_process", code: "exports.spawn = undefined;", sooner: ["list"] },
  // For migrations of settings between versions of a program; conf is told of none.
  { of: "conf", module: "semver", code: "export default {};", sooner: ["config", "set", "tier", "pro"] },
  // For the processor time in traces; a service here measures its requests only.
  {
    of: "prom-client",
    module: "@opentelemetry/api",
    code: "exports.trace = undefined;",
    sooner: ["serve", "--port=0", "--sources=docs", "--exec=exit"],
  },
  // A second Ajv, for answers to questions of the server; this server asks none.
  {
    of: "@modelcontextprotocol/server",
    module: "@modelcontextprotocol/server/_shims",
    code: "export const process = globalThis.process; export class DefaultJsonSchemaValidator {}",
    sooner: ["mcp"],
  },
];

/**
 * A rolldown plugin that puts the stand-ins in. The build fails if a library no longer loads a module of the table.
 * @param {readonly StandIn[]} table
 * @returns {import("rolldown").Plugin}
 */
export function standIns(table = STAND_INS) {
  const idle = new Set(table);
  return {
    name: "stand-ins",
    resolveId(source, importer = "") {
      const found = table.find(
        ({ of, module }) => module === source && importer.includes(`/node_modules/${of}/`),
      );
      if (!found) return null;
      idle.delete(found);
      return `\0${found.of}/${source}`;
    },
    load(id) {
      return table.find(({ of, module }) => id === `\0${of}/${module}`)?.code ?? null;
    },
    buildEnd(error) {
      const names = Array.from(idle, ({ of, module }) => `${module} (${of})`);
      if (!error && idle.size > 0) throw new Error(`no library loads any more: ${names.join(", ")}`);
    },
  };
}

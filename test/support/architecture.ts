import { importCycles } from "./rules/import-cycles.js";
import { proseIn } from "./rules/prose.js";
import { otherClocks } from "./rules/single-clock.js";

/** A file as the rules see it: its path from the root of the repository, with slashes, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/** What a layer may import besides itself. Client, server and store never know of each other. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  bin: ["cli", "dist"],
  cli: [
    ...["mcp", "machine", "workflows", "client", "dialects", "server", "store", "protocol"],
    ...["markdown", "text", "json-schema", "json", "clock", "lock", "secrets"],
  ],
  mcp: ["machine", "workflows", "client", "store", "protocol", "text", "json-schema", "json", "clock"],
  library: ["machine", "workflows", "client", "store", "protocol", "json-schema", "json", "clock"],
  index: ["library", "client", "dialects", "protocol", "json", "clock"],
  machine: [
    ...["workflows", "client", "dialects", "store", "protocol"],
    ...["text", "json-schema", "json", "clock"],
  ],
  workflows: ["client", "dialects", "store", "protocol", "json-schema", "json", "clock", "lock"],
  client: ["dialects", "protocol", "json", "clock", "undici"],
  dialects: ["protocol", "json"],
  server: [
    ...["protocol", "markdown", "text", "json-schema", "json"],
    ...["clock", "lock", "secrets", "semaphore", "threads", "undici"],
  ],
  store: ["protocol", "text", "json", "clock", "lock"],
  text: ["json"],
  protocol: ["clock"],
  markdown: ["text", "json"],
  "json-schema": ["text", "json", "clock", "threads"],
  clock: ["protocol"],
  threads: ["clock", "semaphore"],
  semaphore: ["clock"],
  undici: [],
  lock: ["json", "clock"],
};

/** Of the command line, one command alone loads each of these. */
const LOADED_BY: Readonly<Record<string, string>> = {
  mcp: "src/cli/commands/mcp/",
  server: "src/cli/commands/serve/",
};

const SPECIFIER = /\b(?:from|import)\s*\(?\s*["'`]([^"'`]+)["'`]/g;
const ENDS_PROCESS = [
  /\bprocess\s*(?:\?\.|\.)\s*(?:exit|reallyExit|abort|exitCode)\b/,
  /\bprocess\s*(?:\?\.)?\s*\[/,
  /\bkill\s*\(\s*(?:process\s*\.\s*pid|0)\b/,
  /\bimport\s*\{[^}]*\b(?:exit|reallyExit|abort|exitCode)\b[^}]*\}\s*from\s*["'](?:node:)?process["']/,
  /\{[^{}]*\b(?:exit|reallyExit|abort|exitCode)\b[^{}]*\}\s*=\s*process\b/,
];
const MODULE_MOCK = /\b(?:vi|vitest|jest|mock)\s*\.\s*(?:mock|doMock|unstable_mockModule|module)\s*\(/;

/** Every breach of the layering and of the house rules in `files`, as `path: what`; empty when there is none. */
export function violations(files: readonly SourceFile[]): string[] {
  const source = files.filter(({ path }) => path.startsWith("src/"));
  const graph = new Map(source.map(({ path, text }) => [path, importsOf(path, withoutComments(text))]));
  const cycles = importCycles(graph).map((cycle) => `${cycle}: an import cycle`);
  return [...files.flatMap(violationsIn), ...cycles];
}

function violationsIn(file: SourceFile): string[] {
  const code = withoutComments(file.text);
  const found = file.path.startsWith("test/") ? testRules(code) : sourceRules(file, code);
  return found.map((what) => `${file.path}: ${what}`);
}

/** The files of ours that a file imports. */
function importsOf(path: string, code: string): string[] {
  const specifiers = [...code.matchAll(SPECIFIER)].map((match) => match[1] ?? "");
  return specifiers.filter(isOwnCode).map((specifier) => resolve(path, specifier).replace(/\.js$/, ".ts"));
}

function testRules(code: string): string[] {
  return MODULE_MOCK.test(code) ? ["mocks a module"] : [];
}

function sourceRules({ path, text }: SourceFile, code: string): string[] {
  const found: string[] = [];
  const specifiers = [...code.matchAll(SPECIFIER)].map((match) => match[1] ?? "");
  for (const specifier of specifiers) {
    if (/^(?:ora|chalk)(?:\/|$)/.test(specifier) && !/^src\/cli\/terminal\/[^/]+\.ts$/.test(path))
      found.push(`imports ${specifier} outside the terminal seam`);
    if (/^pg(?:-|\/|$)/.test(specifier) && !path.startsWith("src/server/postgres/"))
      found.push(`imports ${specifier} outside the PostgreSQL store`);
    const from = layerOf(path);
    const to = isOwnCode(specifier) ? layerOf(resolve(path, specifier)) : undefined;
    if (to !== undefined && to !== from && !MAY_IMPORT[from]?.includes(to))
      found.push(`${from} imports ${to} (${specifier})`);
    const loader = from === "cli" && to !== undefined ? LOADED_BY[to] : undefined;
    if (loader !== undefined && !path.startsWith(loader)) found.push(`imports ${to} outside of ${loader}`);
  }
  if (!path.startsWith("bin/") && ENDS_PROCESS.some((pattern) => pattern.test(code)))
    found.push("ends the process, or decides how it ends");
  if (path.startsWith("src/")) found.push(...otherClocks(path, code));
  if (path.startsWith("src/workflows/")) found.push(...proseIn(text));
  return found;
}

/** A document that is bundled as text, such as a description of the interface, belongs to no layer. */
function isOwnCode(specifier: string): boolean {
  return specifier.startsWith(".") && !/\.(?:ya?ml|json|md|txt)(?:\?|$)/.test(specifier);
}

/** The first folder or file name below `src`, or the first folder below the root. */
function layerOf(path: string): string {
  const [top = "", next = ""] = path.split("/");
  return top === "src" ? next.replace(/\.[cm]?[jt]s$/, "") : top;
}

function resolve(path: string, specifier: string): string {
  return new URL(specifier, `file:///${path}`).pathname.slice(1);
}

/** A comment may name what the code must not do. A slash-star inside a glob is no comment: no blank precedes it. */
function withoutComments(text: string): string {
  return text.replace(/(^|\s)\/\*[\s\S]*?\*\//g, "$1").replace(/(^|\s)\/\/[^\n]*/g, "$1");
}

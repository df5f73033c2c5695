import { importCycles } from "./rules/import-cycles.js";
import { proseIn } from "./rules/prose.js";
import { otherClocks } from "./rules/single-clock.js";

/** A file as the rules see it: its path from the root of the repository, with slashes, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/**
 * What a room may import besides itself. The rooms of a wing are named with it; a wing's name alone stands for all of
 * its rooms. The wings `client`, `server` and `reader` never know of each other.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  index: ["library", "client", "core"],
  cli: ["mcp", "researchers", "app", "client", "server", "core"],
  mcp: ["app", "client", "core"],
  library: ["app", "client", "core"],
  researchers: ["app", "server", "reader", "client", "core"],
  app: ["client", "reader", "core"],
  "client/workflows": ["client/calls", "client/dialects", "client/store", "core"],
  "client/calls": ["client/dialects", "core"],
  "client/dialects": ["core"],
  "client/store": ["core"],
  server: ["core"],
  "reader/comparing": ["reader/checking", "reader/matching", "reader/languages", "core"],
  "reader/checking": ["reader/fetching", "reader/parsing", "reader/matching", "reader/languages", "core"],
  "reader/supporting": [
    "reader/checking",
    "reader/searching",
    "reader/parsing",
    "reader/matching",
    "reader/languages",
    "reader/model",
    "core",
  ],
  "reader/writing": [
    "reader/searching",
    "reader/parsing",
    "reader/matching",
    "reader/languages",
    "reader/model",
    "core",
  ],
  "reader/passages": ["reader/searching", "core"],
  "reader/searching": ["reader/fetching", "reader/parsing", "reader/matching", "reader/languages", "core"],
  "reader/matching": ["reader/languages", "core/inverted-index"],
  "reader/fetching": ["reader/parsing", "reader/languages", "core"],
  "reader/parsing": ["reader/languages", "core"],
  "reader/model": ["core"],
  "core/researcher": ["core/protocol"],
  "core/markdown": ["core/text", "core/json"],
  "core/json-schema": ["core/thread-pool", "core/text", "core/json", "core/clock"],
  "core/http": ["core/clock"],
  "core/files": ["core/text", "core/json", "core/clock"],
  "core/thread-pool": ["core/semaphore", "core/clock"],
  "core/semaphore": ["core/clock"],
  "core/text": ["core/json"],
};

/** Of the command line, one command alone loads each of these. */
const LOADED_BY: Readonly<Record<string, string>> = {
  mcp: "src/cli/commands/mcp/",
  server: "src/cli/commands/serve/",
  researchers: "src/cli/commands/serve/",
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
  const faults = file.path.startsWith("test/") ? testRules(code) : sourceRules(file, code);
  return faults.map((what) => `${file.path}: ${what}`);
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
  const faults: string[] = [];
  const specifiers = [...code.matchAll(SPECIFIER)].map((match) => match[1] ?? "");
  for (const specifier of specifiers) {
    if (/^(?:ora|chalk)(?:\/|$)/.test(specifier) && !/^src\/cli\/terminal\/[^/]+\.ts$/.test(path))
      faults.push(`imports ${specifier} outside the terminal seam`);
    if (/^pg(?:-|\/|$)/.test(specifier) && !path.startsWith("src/server/postgres/"))
      faults.push(`imports ${specifier} outside the PostgreSQL store`);
    const from = roomOf(path);
    const to = isOwnCode(specifier) ? roomOf(resolve(path, specifier)) : undefined;
    if (to !== undefined && to !== from && permission(from, to) === undefined)
      faults.push(`${from} imports ${to} (${specifier})`);
    const loader = from === "cli" && to !== undefined ? LOADED_BY[to] : undefined;
    if (loader !== undefined && !path.startsWith(loader)) faults.push(`imports ${to} outside of ${loader}`);
  }
  if (!path.startsWith("bin/") && ENDS_PROCESS.some((pattern) => pattern.test(code)))
    faults.push("ends the process, or decides how it ends");
  if (path.startsWith("src/")) faults.push(...otherClocks(path, code));
  if (path.startsWith("src/client/workflows/")) faults.push(...proseIn(text));
  return faults;
}

/** A document that is bundled as text, such as a description of the interface, belongs to no layer. */
function isOwnCode(specifier: string): boolean {
  return specifier.startsWith(".") && !/\.(?:ya?ml|json|md|txt)(?:\?|$)/.test(specifier);
}

const WINGS = ["client", "reader", "core"];

/** The first folder or file name below `src`, with the second one in a wing; or the first folder below the root. */
function roomOf(path: string): string {
  const [top = "", first = "", second = ""] = path.split("/");
  if (top !== "src") return top;
  const name = (part: string) => part.replace(/(?:\.d)?\.[cm]?[jt]s$/, "");
  return WINGS.includes(first) ? `${first}/${name(second)}` : name(first);
}

/** The entry of `MAY_IMPORT[from]` by which it may import `to`: the room itself, or its wing. */
function permission(from: string, to: string): string | undefined {
  return MAY_IMPORT[from]?.find((allowed) => to === allowed || to.startsWith(`${allowed}/`));
}

/** Each permission by which no file of `files` imports anything, as `from: to`. */
export function unusedPermissions(files: readonly SourceFile[]): string[] {
  const used = new Set(
    files.flatMap(({ path, text }) => {
      const [from, code] = [roomOf(path), withoutComments(text)];
      const specifiers = [...code.matchAll(SPECIFIER)].map((match) => match[1] ?? "").filter(isOwnCode);
      return specifiers.map((each) => `${from}: ${permission(from, roomOf(resolve(path, each)))}`);
    }),
  );
  const all = Object.entries(MAY_IMPORT).flatMap(([from, list]) => list.map((to) => `${from}: ${to}`));
  return all.filter((each) => !used.has(each));
}

function resolve(path: string, specifier: string): string {
  return new URL(specifier, `file:///${path}`).pathname.slice(1);
}

/** A comment may name what the code must not do. A slash-star inside a glob is no comment: no blank precedes it. */
function withoutComments(text: string): string {
  return text.replace(/(^|\s)\/\*[\s\S]*?\*\//g, "$1").replace(/(^|\s)\/\/[^\n]*/g, "$1");
}

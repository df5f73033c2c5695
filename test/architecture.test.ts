import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type SourceFile, unusedPermissions, violations } from "./support/architecture.js";

const root = join(import.meta.dirname, "..");

function filesIn(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[cm]?[jt]s$/.test(name) && !/node_modules/.test(name))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

test("src, bin and test keep to the layers and the house rules", () => {
  const files = ["src", "bin", "test"].flatMap(filesIn);
  expect(files.length).toBeGreaterThan(10);
  expect(violations(files)).toEqual([]);
  expect(unusedPermissions(files)).toEqual([]);
});

test("a permission that no file uses is seen", () => {
  expect(unusedPermissions([{ path: "src/core/text/a.ts", text: "" }])).toContain("core/text: core/json");
});

describe("a breach is seen:", () => {
  const call = (object: string, method: string) => `${object}.${method}("./x.js");`;
  test.each([
    ["an import that points up", "src/client/calls/a.ts", 'import { x } from "../../cli/main.js";'],
    ["a dynamic one", "src/client/store/a.ts", 'const x = await import("../../cli/main.js");'],
    ["a re-export of one", "src/core/protocol/a.ts", 'export * from "../../client/calls/client.js";'],
    ["a side-effect one", "src/core/protocol/deep/a.ts", 'import "../../../server/app.js";'],
    ["one from the clock", "src/core/clock.ts", 'import type { X } from "../client/store/history.js";'],
    ["client to server", "src/client/calls/a.ts", 'import { x } from "../../server/app.js";'],
    ["client to reader", "src/client/workflows/a.ts", 'import { x } from "../../reader/checking/check.js";'],
    ["reader to server", "src/reader/searching/a.ts", 'import { x } from "../../server/service.js";'],
    ["reading to fetching", "src/reader/parsing/a.ts", 'import { x } from "../fetching/robots.js";'],
    ["a layer of core to a higher one", "src/core/json/a.ts", 'import { x } from "../text/width.js";'],
    ["server to store", "src/server/a.ts", 'import { x } from "../client/store/history.js";'],
    ["store to calls", "src/client/store/a.ts", 'import { x } from "../calls/client.js";'],
    ["the library reaching into the command line", "src/index.ts", 'export { x } from "./cli/main.js";'],
    ["the library's inside doing so", "src/library/a.ts", 'import { x } from "../cli/context.js";'],
    ["mcp reaching into the command line", "src/mcp/a.ts", 'import { x } from "../cli/context.js";'],
    ["app reaching into a front end", "src/app/a.ts", 'import type { X } from "../mcp/tool.js";'],
    ["one front end using another", "src/mcp/a.ts", 'import { x } from "../library/open-research.js";'],
    [
      "a workflow that imports app",
      "src/client/workflows/a.ts",
      'import { x } from "../../app/settings.js";',
    ],
    [
      "a second command that loads mcp",
      "src/cli/commands/doctor/a.ts",
      'const x = await import("../../../mcp/server.js");',
    ],
    [
      "a second command that loads the server",
      "src/cli/commands/batch/a.ts",
      'import type { X } from "../../../server/service.js";',
    ],
    ["the command line as a whole doing so", "src/cli/program.ts", 'import { x } from "../server/role.js";'],
    ["a layer importing the library", "src/cli/a.ts", 'import { x } from "../index.js";'],
    ["exit", "src/cli/a.ts", "process.exit(1);"],
    ["reallyExit", "src/cli/a.ts", "process.reallyExit(1);"],
    ["abort", "src/cli/a.ts", "process.abort();"],
    ["exitCode", "src/cli/a.ts", "process.exitCode = 2;"],
    ["a computed member", "src/cli/a.ts", 'process["exit"](1);'],
    ["an imported exit", "src/cli/a.ts", 'import { argv, exit } from "node:process";'],
    ["a destructured exit", "src/cli/a.ts", "const { exit } = process;"],
    ["killing oneself", "src/cli/a.ts", 'process.kill(process.pid, "SIGINT");'],
    ["killing one's group", "src/cli/a.ts", 'process.kill(0, "SIGINT");'],
    ["a mocked module", "test/a.test.ts", call("vi", "mock")],
    ["a late mocked module", "test/a.test.ts", call("vi", "doMock")],
    ["another runner's", "test/a.test.ts", call("jest", "mock")],
    ["ora outside the seam", "src/cli/views/a.ts", 'import ora from "ora";'],
    ["chalk outside the seam", "src/cli/output.ts", 'const { Chalk } = await import("chalk");'],
    ["pg outside the PostgreSQL store", "src/server/conversations/a.ts", 'import type { Pool } from "pg";'],
    ["a workflow with prose", "src/client/workflows/a.ts", 'const x = "try again later";'],
    ["a workflow with prose in a template", "src/client/workflows/batch/a.ts", "const x = `see the help`;"],
    [
      "a workflow that imports the command line",
      "src/client/workflows/a.ts",
      'import { x } from "../../cli/main.js";',
    ],
    ["calls that import a workflow", "src/client/calls/a.ts", 'import { x } from "../workflows/submit.js";'],
    ["a second clock", "src/cli/a.ts", "const now = Date.now();"],
    ["a second clock that never jumps", "src/client/store/a.ts", "const now = performance.now();"],
    ["a timer of its own", "src/client/workflows/a.ts", "setTimeout(f, 1_000);"],
    ["a date of its own", "src/server/a.ts", "const at = new Date().toISOString();"],
  ])("%s", (_name, path, text) => {
    expect(violations([{ path, text }])).toHaveLength(1);
  });
});

test("an import cycle is seen, of types too", () => {
  const files = [
    { path: "src/cli/a.ts", text: 'import type { B } from "./b.js";' },
    { path: "src/cli/b.ts", text: 'import { c } from "./deep/c.js";' },
    { path: "src/cli/deep/c.ts", text: 'import { a } from "../a.js";' },
  ];
  expect(violations(files)).toEqual([
    "src/cli/a.ts -> src/cli/b.ts -> src/cli/deep/c.ts -> src/cli/a.ts: an import cycle",
  ]);
  expect(violations(files.slice(0, 2))).toEqual([]);
});

describe("what is allowed is not one:", () => {
  test.each([
    ["imports that point down", "src/cli/a.ts", 'import { x } from "../client/calls/client.js";'],
    ["the program ending the process", "bin/process.js", "process.exitCode = await main();"],
    [
      "the command that loads mcp",
      "src/cli/commands/mcp/run.ts",
      'import { x } from "../../../mcp/server.js";',
    ],
    ["threads knowing the clock", "src/core/thread-pool.ts", 'import type { C } from "./clock.js";'],
    ["a document bundled as text", "src/server/a.ts", 'import text from "../../openapi.yaml";'],
    ["the terminal seam", "src/cli/terminal/live.ts", 'import ora from "ora";'],
    ["killing a child's group", "src/server/a.ts", 'process.kill(-child.pid, "SIGTERM");'],
    ["a comment that names it", "src/cli/a.ts", "// never process.exit() here\n/* process.abort() */"],
    ["an error of a workflow", "src/client/workflows/a.ts", "throw new StateError(`it is over by now`);"],
    [
      "the message of its class",
      "src/client/workflows/a.ts",
      'class E extends Error { constructor() { super("a b"); } }',
    ],
    ["an event of a workflow", "src/client/workflows/a.ts", 'emit({ kind: "waiting-for-quota", until });'],
    ["a date of a given time", "src/cli/a.ts", "const at = new Date(now).toISOString();"],
  ])("%s", (_name, path, text) => {
    expect(violations([{ path, text }])).toEqual([]);
  });
});

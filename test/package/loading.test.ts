import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { world } from "../support/world.js";

// What a command loads is what its start takes: an import that brings much along shows here.

const dist = join(import.meta.dirname, "../../dist");

/** How many kilobytes of `dist` a run has loaded: V8's coverage names each file. */
function loadedKilobytes(coverage: string): number {
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8")) as {
      result: { url: string }[];
    };
    return result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
  });
  const files = [...new Set(urls.map((url) => fileURLToPath(url)))];
  const ours = files.filter((file) => !relative(dist, file).startsWith(".."));
  expect(ours.length).toBeGreaterThan(0);
  return ours.reduce((sum, file) => sum + statSync(file).size, 0) / 1_000;
}

/** Writes the names of the modules of Node that were loaded, one a line, when the program ends. */
const RECORDER = `
  process.on("exit", () => {
    const loaded = process.moduleLoadList.filter((name) => /^NativeModule (?!internal)/.test(name));
    require("node:fs").writeFileSync(process.env.RECORD, loaded.map((name) => name.split(" ")[1]).join("\\n"));
  });
`;

const NETWORK = ["net", "tls", "http", "_http_client", "http2", "dns"];
const COSTLY = ["crypto", "zlib", "child_process", "tty", "worker_threads"];

// The bounds are a fifth above what was loaded when they were set.
test.each([
  { args: ["--version"], atMost: 8, never: [...NETWORK, ...COSTLY, "stream"] },
  { args: ["--help"], atMost: 8, never: [...NETWORK, ...COSTLY, "stream"] },
  { args: ["list"], atMost: 460, never: [...NETWORK, ...COSTLY] },
  { args: ["status", "ID"], atMost: 870, never: [...NETWORK.filter((name) => name !== "net"), ...COSTLY] },
])("$args loads at most $atMost kB and no costly module of Node", async ({ args, atMost, never }) => {
  const here = await world();
  const id = here.service.add("x => COMPLETED");
  const coverage = folderWith();
  const recording = folderWith({ "recorder.cjs": RECORDER });
  const program = args.map((arg) => (arg === "ID" ? id : arg));
  const run = await here.start(program, {
    env: {
      NODE_V8_COVERAGE: coverage,
      NODE_OPTIONS: `--require=${join(recording, "recorder.cjs")}`,
      RECORD: join(recording, "builtins"),
    },
  }).done;
  expect(run).toMatchObject({ code: 0 });
  expect(loadedKilobytes(coverage)).toBeLessThanOrEqual(atMost);
  const builtins = readFileSync(join(recording, "builtins"), "utf8").split("\n");
  expect(builtins).toContain("fs");
  expect(builtins.filter((builtin) => never.includes(builtin))).toEqual([]);
});

import { defineConfig } from "rolldown";
import { help } from "./help.js";
import { filesAsText, yamlAsData } from "./imports.js";
import { licenses } from "./licenses.js";
import { minifyChunks } from "./minify-chunks.js";
import { STAND_INS, standIns } from "./stand-ins.js";

// A file costs as much to load as ten thousand characters in it, so what is always needed together is one file.
// Each group takes along what its modules import, unless an earlier one has it.
const CHUNKS = [
  // Packages apart from our code, to be minified.
  { name: "commander", test: /node_modules\/(commander|get-east-asian-width)\// },
  { name: "hono", test: /node_modules\/(@hono|hono)\// },
  { name: "marked", test: /node_modules\/(marked|entities)\// },
  { name: "valibot", test: /node_modules\/valibot\// },
  // Of all; `--version` and a help page take nothing else.
  { name: "clock", test: /src\/core\/clock\.ts$/ },
  // Of the library and of every command.
  { name: "base", test: /src\/(client\/calls\/errors|core\/http\/address)\.ts$/ },
  // Of the shell completion, too, which loads nothing else.
  {
    name: "reading",
    test: /src\/(core\/(files\/files|text\/(safe-text|duration))|app\/settings|client\/store\/history\/history)\.ts$/,
  },
  // With the first request.
  { name: "undici", test: /src\/core\/http\/undici\.ts$/ },
  // Of the library and of the commands that may speak to a service.
  { name: "client", test: /src\/client\/calls\/client\.ts$/ },
  // Enough for help and errors of usage.
  { name: "program", test: /src\/cli\/(run-command|errors)\.ts$/ },
  // The verbs of one request or a few.
  {
    name: "command",
    test: /src\/cli\/(context|commands\/(create|list|output|resolve|run|show|status|stop|watch)\/run)\.ts$/,
  },
  // To read a result, on a terminal or as a page.
  { name: "markdown", test: /src\/core\/markdown\/parse\.ts$/ },
];

/**
 * The entries share their chunks: the command line, the library, and the threads. Everything is bundled, so that an
 * installed package resolves no dependency at start-up; dynamic imports stay chunks of their own.
 * @param {readonly import("./stand-ins.js").StandIn[]} table
 */
export const configuration = (table) =>
  defineConfig({
    input: {
      main: "src/cli/main.ts",
      index: "src/index.ts",
      "schema-worker": "src/core/json-schema/worker.ts",
      "source-index-worker": "src/reader/searching/index-worker.ts",
      "document-worker": "src/reader/parsing/documents/worker.ts",
    },
    platform: "node",
    // What is loaded late in the sources may stand in a chunk that is there already.
    checks: { ineffectiveDynamicImport: false },
    // Optional peers, which only users of a database or of PDF install.
    external: ["pg", "unpdf"],
    // Where a package has both, the ES modules: a bundled UMD file asks for its parts at run time.
    resolve: { mainFields: ["module", "main"] },
    plugins: [standIns(table), yamlAsData(), filesAsText(), licenses(), minifyChunks(), help()],
    output: {
      dir: "dist",
      comments: false,
      format: "esm",
      cleanDir: true,
      minify: "dce-only",
      chunkFileNames: "chunks/[name]-[hash].js",
      codeSplitting: {
        groups: CHUNKS.map((chunk, index) => ({ ...chunk, priority: CHUNKS.length - index })),
      },
    },
  });

export default configuration(STAND_INS);

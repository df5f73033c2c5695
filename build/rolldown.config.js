import { defineConfig } from "rolldown";
import { spare } from "./spare.js";
import { yamlAsData } from "./yaml.js";

// Three entries share their chunks: the command line, the library and the thread of the built-in researcher.
// Everything is bundled, so that an installed package resolves no dependency at start-up; dynamic imports stay
// chunks of their own.
export default defineConfig({
  input: {
    main: "src/cli/main.ts",
    index: "src/index.ts",
    "passages-worker": "src/server/researchers/passages/worker.ts",
  },
  platform: "node",
  // Where a package has both, the ES modules: a bundled UMD file asks for its parts at run time.
  resolve: { mainFields: ["module", "main"] },
  plugins: [spare(), yamlAsData()],
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    minify: true,
    chunkFileNames: "chunks/[name]-[hash].js",
  },
});

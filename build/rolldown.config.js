import { defineConfig } from "rolldown";

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
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    minify: true,
    chunkFileNames: "chunks/[name]-[hash].js",
  },
});

import { defineConfig } from "vitest/config";
import { yamlAsData } from "./yaml.js";

// The tests that run in the process: those of the built program cannot notice a change of its source.
export default defineConfig({
  plugins: [yamlAsData()],
  test: {
    include: ["test/{client,json,protocol,store,text,workflows}/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    testTimeout: 30_000,
  },
});

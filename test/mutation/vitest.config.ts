import { defineConfig } from "vitest/config";
import { yamlAsData } from "../../build/imports.js";

// Tests of the built program cannot notice a change of its source. Those that take seconds each would be run once
// for each break; what they alone notice counts as a survivor here.
const SLOW = [
  "test/cli/commands/*.test.ts",
  "test/cli/commands/batch/{input,kill,on-done,pace,pages,processes,quota,resume,terminal}.test.ts",
  "test/client/calls/library.test.ts",
  "test/ground/http/connections.test.ts",
  "test/client/calls/watch/{watch,learned-interval-simulated}.test.ts",
  "test/client/workflows/batch/batch.test.ts",
];

// For a quick run: the patterns of the test files that stand beside what is mutated.
const { MUTATION_TESTS } = process.env;

export default defineConfig({
  plugins: [yamlAsData()],
  test: {
    include: MUTATION_TESTS?.split(" ") ?? [
      "test/{cli,client,json,protocol,store,text,workflows}/**/*.test.ts",
    ],
    exclude: MUTATION_TESTS === undefined ? SLOW : [],
    setupFiles: ["test/mutation/setup.ts"],
    globalSetup: ["test/support/postgres-setup.ts"],
    // Less than the timeoutMS of stryker.json: a promise that never settles fails its test and costs no new process.
    testTimeout: 10_000,
  },
});

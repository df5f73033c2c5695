import { configDefaults, defineConfig, type Plugin } from "vitest/config";
import { yamlAsData } from "../../build/imports.js";

// Tests of the built program cannot notice a change of its source.
const EXCLUDED = [
  "test/{action,docs,package}/**",
  "test/mcp/{built,create-once}.test.ts",
  "test/server/conversations/kill.test.ts",
  "test/server/conversations/local/kill-compaction.test.ts",
  "test/reader/writing/interrupted.test.ts",
  "test/server/postgres/{chaos,connections,rolling-restart,serve}.test.ts",
];

// Stryker asks for threads, in which a test cannot change the current folder.
const forks: Plugin = {
  name: "forks",
  configureVitest: ({ project }) => {
    project.config.pool = "forks";
  },
};

export default defineConfig({
  plugins: [yamlAsData(), forks],
  test: {
    include: process.env.MUTATION_TESTS?.split(" ") ?? [],
    exclude: [...configDefaults.exclude, ...EXCLUDED],
    setupFiles: ["test/mutation/setup.ts"],
    globalSetup: ["test/support/postgres-setup.ts"],
    // Less than the timeoutMS of stryker.json: a promise that never settles fails its test and costs no new process.
    testTimeout: 20_000,
  },
});

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { yamlAsData } from "./build/imports.js";

/** What starts processes and waits for them. */
const WAITS =
  /\/test\/(action|cli\/completion|docs|e2e|faults|mcp|providers|server\/(postgres|researchers\/model))\b/;

/**
 * What waits begins first: at the end it would be alone with idle cores. After every second of these files comes one
 * that computes, or the cores would be idle at the beginning.
 */
class LongestWaitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waits = ({ moduleId }: TestSpecification) => WAITS.test(moduleId);
    const computing = sorted.filter((file) => !waits(file));
    const mixed = sorted.filter(waits).flatMap((file, at) => [file, ...computing.splice(0, at % 2)]);
    return [...mixed, ...computing];
  }
}

export default defineConfig({
  plugins: [yamlAsData()],
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    globalSetup: ["test/support/postgres-setup.ts", "test/support/build.ts"],
    // Otherwise CSS that code imports is empty.
    css: true,
    reporters: ["default", "./test/support/summary-reporter.ts"],
    // No test comes near it: it ends one that hangs, also on a machine with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    sequence: { sequencer: LongestWaitFirst },
    // Loading the modules anew for each of some 300 files took a third of the processor time. What a test leaves
    // behind is undone by test/support/setup.ts.
    isolate: false,
    // Most tests wait for processes and timers, so two cores take more than two. Each one loads all modules for itself, which
    // takes five seconds of processor time.
    maxWorkers: 5,
  },
});

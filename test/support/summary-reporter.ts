import { writeSync } from "node:fs";
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from "vitest/node";

/** How many there were of each; a module that could not be loaded and an error outside any test count as failed. */
export interface Summary {
  passed: number;
  failed: number;
  /** Tests of the fault matrix: those whose name starts with `cell:`. */
  cells: number;
  /** The full names of the tests that were skipped: a tool is missing. */
  skipped: readonly string[];
}

/** Counts over all modules of a run. Tests that `asked`, the pattern of `-t`, leaves out are not among the skipped. */
export function summarize(
  modules: readonly TestModule[],
  errors: readonly SerializedError[],
  asked = /^/,
): Summary {
  const tests: TestCase[] = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((test) => test.result().state === state).length;
  const broken = modules.filter((module) => module.errors().length > 0).length;
  return {
    passed: inState("passed"),
    failed: inState("failed") + broken + errors.length,
    cells: tests.filter((test) => test.name.startsWith("cell:") && test.result().state !== "skipped").length,
    skipped: tests
      .filter((test) => test.result().state === "skipped" && asked.test(test.fullName.replaceAll(" > ", " ")))
      .map((test) => test.fullName),
  };
}

/** The lines that end a run. */
export function summaryText({ passed, failed, cells, skipped }: Summary): string {
  const matrix = cells > 0 ? `${cells} cells of the fault matrix\n` : "";
  const missing = skipped.map((name) => `skipped: ${name}\n`).join("");
  return `${matrix}${missing}${passed} passed, ${failed} failed\n`;
}

/**
 * Writes the summary after everything else, so that the last line tells the outcome. With `ALL_TOOLS=1`, where every tool
 * is installed, a skipped test fails the run.
 */
export default class SummaryReporter implements Reporter {
  #asked: RegExp | undefined;

  onInit(vitest: Vitest): void {
    this.#asked = vitest.getGlobalTestNamePattern();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const summary = summarize(modules, errors, this.#asked);
    if (process.env.ALL_TOOLS === "1" && summary.skipped.length > 0) process.exitCode = 1;
    process.once("exit", () => writeSync(1, summaryText(summary)));
  }
}

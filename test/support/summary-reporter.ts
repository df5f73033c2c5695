import { writeSync } from "node:fs";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

/** How many there were of each; a module that could not be loaded and an error outside any test count as failed. */
export interface Summary {
  passed: number;
  failed: number;
  /** Tests of the fault matrix: those whose name starts with `cell:`. */
  cells: number;
}

/** Counts over all modules of a run. */
export function summarize(modules: readonly TestModule[], errors: readonly SerializedError[]): Summary {
  const tests: TestCase[] = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((test) => test.result().state === state).length;
  const broken = modules.filter((module) => module.errors().length > 0).length;
  return {
    passed: inState("passed"),
    failed: inState("failed") + broken + errors.length,
    cells: tests.filter((test) => test.name.startsWith("cell:") && test.result().state !== "skipped").length,
  };
}

/** The lines that end a run. */
export function summaryText({ passed, failed, cells }: Summary): string {
  const matrix = cells > 0 ? `${cells} cells of the fault matrix\n` : "";
  return `${matrix}${passed} passed, ${failed} failed\n`;
}

/** Writes the summary after everything else, so that the last line tells the outcome. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const text = summaryText(summarize(modules, errors));
    process.once("exit", () => writeSync(1, text));
  }
}

import { systemClock } from "../core/clock.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { CheckReportOptions } from "./types.js";

/**
 * Checks a report in Markdown, without an account. Rejects with `signal.reason` or a ResearchError: NOT_CHECKED if no page
 * could be read or no mark leads to a source, USAGE over 2 MiB, NOT_AUTHENTICATED if the model's endpoint refuses the key.
 */
export async function checkReport(markdown: string, options: CheckReportOptions = {}): Promise<CheckOutcome> {
  const { checkReport: check } = await import("../app/check-report.js");
  const { convertToReport } = await import("../app/parse-report.js");
  const { runWithChecker } = await import("./run-with-checker.js");
  try {
    const report = convertToReport({ data: {}, value: markdown });
    return await runWithChecker(
      { env: process.env, clock: systemClock },
      options,
      async (checker, limits) => {
        const outcome = await check(checker, { report }, limits);
        limits.signal.throwIfAborted();
        return outcome;
      },
    );
  } catch (error) {
    throw (await import("./research-implementation.js")).convertToResearchError(error, options.signal);
  }
}

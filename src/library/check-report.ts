import { systemClock } from "../ground/clock.js";
import type { CheckOutcome } from "../ground/protocol/check-outcome.js";
import type { CheckReportOptions } from "./types.js";

/**
 * Reads the pages that a report in Markdown cites, and looks in them for what it says. It needs no account. Rejects
 * with a ResearchError: UNREACHABLE if no page answered, USAGE for a report over 2 MiB; and with `signal.reason`.
 */
export async function checkReport(markdown: string, options: CheckReportOptions = {}): Promise<CheckOutcome> {
  const { CHECK_LIMITS, checkOf, openChecker, reportOf } = await import("../machine/check.js");
  const { signal = new AbortController().signal, allowPrivate, ...limits } = options;
  signal.throwIfAborted();
  const checker = await openChecker({ env: process.env, clock: systemClock, allowPrivate });
  try {
    const report = reportOf({ data: {}, value: markdown });
    const named = { request_id: null, file: null };
    const outcome = await checkOf(checker, report, named, { ...CHECK_LIMITS, ...limits, signal });
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    throw (await import("./machine-research.js")).codedError(error, signal);
  } finally {
    checker.close();
  }
}

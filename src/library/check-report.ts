import { systemClock } from "../core/clock.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { CheckReportOptions } from "./types.js";

/**
 * Checks a report in Markdown, without an account. Rejects with `signal.reason` or a ResearchError: NOT_CHECKED if no page
 * could be read or no mark leads to a source, USAGE over 2 MiB, NOT_AUTHENTICATED if the model's endpoint refuses the key.
 */
export async function checkReport(markdown: string, options: CheckReportOptions = {}): Promise<CheckOutcome> {
  const { CHECK_LIMITS, checkReport: check, openChecker } = await import("../app/check.js");
  const { readReport } = await import("../app/report.js");
  const { openModel } = await import("./check-model.js");
  const { signal = new AbortController().signal, allowPrivate, model: given, ...limits } = options;
  signal.throwIfAborted();
  const checker = await openChecker({ env: process.env, clock: systemClock, allowPrivate });
  let asked: Awaited<ReturnType<typeof openModel>> = {};
  try {
    asked = await openModel(given, process.env, signal);
    const report = readReport({ data: {}, value: markdown });
    const outcome = await check(checker, { report }, { ...CHECK_LIMITS, ...limits, ...asked, signal });
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    throw (await import("./account-research.js")).addCode(error, signal);
  } finally {
    checker.close();
    await asked.model?.close();
  }
}

import { CHECK_LIMITS, type Checker, openChecker, type ReportCheckOptions } from "../app/check-report.js";
import { openCitationJudge } from "../app/citation-judge.js";
import type { Clock } from "../core/clock.js";
import type { Environment } from "../core/files/local-error.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { CheckReportOptions } from "./types.js";

/**
 * Opens a checker and the model that the options of the library name, has `check` use them, and closes them. No
 * environment variable names the model. Rejects with CodedError if the options are invalid, or if the endpoint needs a key
 * and there is none.
 */
export async function runWithChecker(
  { env, clock }: { env: Environment; clock: Clock },
  { allowPrivate, model: given, signal = new AbortController().signal, ...limits }: CheckReportOptions,
  check: (checker: Checker, options: ReportCheckOptions) => Promise<CheckOutcome>,
): Promise<CheckOutcome> {
  signal.throwIfAborted();
  const { name, url, apiKey, price, tokens, calls, timeMs, onUsage } = given ?? {};
  const keys = { RESEARCH_MODEL_API_KEY: apiKey, RESEARCH_MODEL_API_KEY_FILE: undefined };
  const host = { env: { ...env, ...keys }, clock, version: "", random: Math.random };
  const modelLimits = { modelTokens: tokens, modelCalls: calls, modelTime: timeMs, modelPrice: price };
  const options = { model: name, modelUrl: url, ...modelLimits };
  const model = given && (await openCitationJudge({ host, flags: {}, signal }, options));
  const checker = await openChecker({ env, clock, allowPrivate });
  try {
    await model?.requireAccess(signal);
    const listener: ReportCheckOptions["listener"] = { onEnd: async ({ usage }) => onUsage?.(usage) };
    return await check(checker, { ...CHECK_LIMITS, ...limits, model, listener, signal });
  } finally {
    checker.close();
    await model?.close();
  }
}

import type { ReportCheckOptions } from "../app/check.js";
import { openCheckModel } from "../app/check-model.js";
import { systemClock } from "../core/clock.js";
import type { Environment } from "../core/files/local-error.js";
import type { ReportModel } from "./types.js";

/**
 * Opens the model that the options of the library name; environment variables do not count. Rejects with CodedError if
 * the options are invalid, or if the endpoint needs a key and there is none.
 */
export async function openModel(
  given: ReportModel | undefined,
  env: Environment,
  signal: AbortSignal,
): Promise<Pick<ReportCheckOptions, "model" | "listener">> {
  if (given === undefined) return {};
  const { name, url, apiKey, price, tokens, calls, timeMs, onUsage } = given;
  const keys = { RESEARCH_MODEL_API_KEY: apiKey, RESEARCH_MODEL_API_KEY_FILE: undefined };
  const host = { env: { ...env, ...keys }, clock: systemClock, version: "", random: Math.random };
  const limits = { modelTokens: tokens, modelCalls: calls, modelTime: timeMs, modelPrice: price };
  const model = await openCheckModel({ host, flags: {}, signal }, { model: name, modelUrl: url, ...limits });
  await model?.requireAccess(signal);
  return { model, listener: { onEnd: async ({ usage }) => onUsage?.(usage) } };
}

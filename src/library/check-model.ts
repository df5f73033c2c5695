import type { ReportCheckOptions } from "../app/check.js";
import { openCheckModel } from "../app/check-model.js";
import { systemClock } from "../core/clock.js";
import type { Environment } from "../core/files/local-error.js";
import type { ReportModel } from "./types.js";

/**
 * Opens the model that a program names; no variable names one, or a key for it. Rejects with CodedError if it is invalid,
 * or if its endpoint requires a key and none is set.
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

import type { CheckModel, ModelFindings, ModelListener } from "../../app/check-model.js";
import { formatCount } from "../../core/text/phrases.js";
import type { Reporter } from "../terminal/reporter.js";

/** Reports the estimate for the model, its cost, and why some citations were not judged or all its answers were discarded. */
export function createModelListener(
  reporter: Reporter,
  model: CheckModel,
  requestId?: string,
): Required<Omit<ModelListener, "onProgress">> {
  const sendNotice = (code: string, message: string, more = {}) =>
    requestId === undefined
      ? reporter.writeNotice(code, message, more)
      : reporter.writeNotice(code, `${requestId}: ${message}`, { request_id: requestId, ...more });
  return {
    async onPlan({ citations, calls, tokens }) {
      if (calls > 0) await sendNotice("MODEL", planText(model, { citations, calls, tokens }));
    },
    onNotice: (line) => void sendNotice("MODEL", line),
    async onEnd(findings, reused) {
      const { end, hasFailed, usage } = findings;
      if (usage.calls + reused === 0 && end === undefined) return;
      if (hasFailed) await sendNotice("MODEL_FAILED", end ?? "");
      else if (end !== undefined)
        await sendNotice("MODEL_LIMIT", `the model did not judge every citation: ${end}`);
      await sendNotice("MODEL_USED", describeUsed(findings, reused), { usage });
    },
  };
}

/** Describes the limits of the model for each report. */
export function describeLimits({ title, limits: { tokens, calls, ms } }: CheckModel): string {
  const most = `${formatCount(tokens, "token")}, ${formatCount(calls, "call")} and ${formatCount(ms / 60_000, "minute")}`;
  return `${title} judges the citations of each result, using at most ${most} per result`;
}

/** Describes the estimated calls and tokens for judging citations. */
export function planText(
  { title }: CheckModel,
  { citations, calls, tokens }: { citations: number; calls: number; tokens: number },
): string {
  const cost = `about ${formatCount(calls, "call")} and ${formatCount(tokens, "token")}`;
  return `${title} will judge ${formatCount(citations, "citation")}: ${cost}`;
}

function describeUsed({ usage, failures, unproven }: ModelFindings, reused: number): string {
  const { calls, input_tokens, output_tokens, cost_dollars } = usage;
  const dollars = cost_dollars === undefined ? "" : ` ($${cost_dollars})`;
  const thrown = [
    ...(failures > 0 ? [failures === 1 ? "1 reply" : `${failures} replies`] : []),
    ...(unproven > 0 ? [`${formatCount(unproven, "answer")} without proof`] : []),
  ];
  return [
    `the model used ${formatCount(calls, "call")} and ${formatCount(input_tokens + output_tokens, "token")}${dollars}`,
    ...(thrown.length > 0 ? [`discarded: ${thrown.join(", ")}`] : []),
    ...(reused > 0 ? [`${formatCount(reused, "answer")} of an earlier check reused`] : []),
  ].join("; ");
}

import type { CitationJudge, ModelFindings, ModelListener } from "../../app/citation-judge.js";
import { formatCount } from "../../core/text/format-text.js";
import type { Reporter } from "../terminal/reporter.js";

/** Creates a listener that prints the model's estimate, its usage, and why citations were not judged or answers were discarded. */
export function createModelListener(
  reporter: Reporter,
  model: CitationJudge,
  requestId?: string,
): Required<Omit<ModelListener, "onProgress">> {
  const sendNotice = (code: string, message: string, more = {}) =>
    writeNoticeAbout(reporter, requestId, code, message, more);
  return {
    async onPlan({ citations, calls, tokens }) {
      if (calls > 0) await sendNotice("MODEL", describePlan(model, { citations, calls, tokens }));
    },
    onNotice: (line) => void sendNotice("MODEL", line),
    async onEnd(findings, reused) {
      const { end, hasFailed, usage } = findings;
      if (usage.calls + reused === 0 && end === undefined) return;
      if (hasFailed) await sendNotice("MODEL_FAILED", end ?? "");
      else if (end !== undefined)
        await sendNotice("MODEL_LIMIT", `the model did not judge every citation: ${end}`);
      await sendNotice("MODEL_USED", describeUsage(findings, reused), { usage });
    },
  };
}

/** Writes a notice that names a request, if there is one. */
export function writeNoticeAbout(
  reporter: Reporter,
  requestId: string | undefined,
  code: string,
  message: string,
  more = {},
): Promise<void> {
  return requestId === undefined
    ? reporter.writeNotice(code, message, more)
    : reporter.writeNotice(code, `${requestId}: ${message}`, { request_id: requestId, ...more });
}

/** Describes how much the model may use for each report. */
export function describeLimits({ title, limits: { tokens, calls, ms } }: CitationJudge): string {
  const most = `${formatCount(tokens, "token")}, ${formatCount(calls, "call")} and ${formatCount(ms / 60_000, "minute")}`;
  return `${title} judges the citations of each result, using at most ${most} per result`;
}

/** Describes how many calls and tokens the model will probably need. */
export function describePlan(
  { title }: CitationJudge,
  { citations, calls, tokens }: { citations: number; calls: number; tokens: number },
): string {
  const cost = `about ${formatCount(calls, "call")} and ${formatCount(tokens, "token")}`;
  return `${title} will judge ${formatCount(citations, "citation")}: ${cost}`;
}

function describeUsage({ usage, failures, unproven }: ModelFindings, reused: number): string {
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

import { type DiffSide, diffReports, type ReportDiff } from "../../../app/diff-reports.js";
import { UsageError } from "../../../app/errors.js";
import { ResearchError } from "../../../client/calls/errors.js";
import { formatCount } from "../../../core/text/format-text.js";
import { stringifySafe } from "../../../core/text/safe-text.js";
import type { Context } from "../../command-context.js";
import { pickWorstExit, showFailure } from "../../requests/exit-codes.js";
import { openReportSource } from "../../results/report-source.js";
import { checkResultOptions, showResult } from "../../results/show-result.js";
import type { Given } from "../shared-flags.js";
import { formatDiff } from "./format-diff.js";

type DiffFlags = Pick<Given<"result">, "output" | "force" | "html">;

/** Prints how the content of two results differs. Returns 15 if they differ. */
export async function runDiff(ctx: Context, old: string, now: string, options: DiffFlags): Promise<number> {
  const { reporter } = ctx;
  checkResultOptions(options, reporter.json);
  if (old === "-" && now === "-")
    throw new UsageError("stdin can be read only once: pass a file or an id for one of the two results");
  // Nothing is sent for one id if the other argument is bad input.
  const sources = [
    [old, await openReportSource(ctx, old)] as const,
    [now, await openReportSource(ctx, now)] as const,
  ];
  const sides: DiffSide[] = [];
  const codes: number[] = [];
  for (const [name, fetchReport] of sources)
    try {
      sides.push(await fetchReport());
    } catch (error) {
      const id = error instanceof ResearchError ? error.requestId : undefined;
      codes.push(await showFailure(reporter, error, id ?? name));
    }
  const [before, after] = sides;
  if (!before || !after) return pickWorstExit(codes);
  const comparison = await diffReports(before, after);
  const { changes, counts } = comparison;
  if (changes.length > 0 || reporter.json)
    await showResult(ctx, wrapChangesAsResult(comparison, reporter.json), {}, options);
  const open = formatCount(counts.not_compared, "sentence");
  await reporter.say(
    `${changes.length === 0 ? "nothing changed; " : ""}${open} of the new result ${counts.not_compared === 1 ? "has" : "have"} no number, date or quotation to compare`,
  );
  return changes.length > 0 ? 15 : 0;
}

/** Wraps the changes as a result, so that the flags for results apply to them. */
function wrapChangesAsResult(changes: ReportDiff, isJson: boolean) {
  const data = isJson ? JSON.parse(stringifySafe(changes)) : {};
  return { data, value: formatDiff(changes), exact: {} };
}

import type { Result } from "../client/workflows/fetch-results.js";
import { listNamedPages, normalizePageAddress } from "./bibliography.js";
import type { ReportToCheck } from "./check-report.js";
import { UsageError } from "./errors.js";
import { checkReportSize } from "./parse-report.js";

/** One of the two compared reports. */
export interface DiffSide extends ReportToCheck {
  result: Result;
}

/** The changes from one report to another, in the format of `diff --json` (contract §13). */
export interface ReportDiff {
  old: { request_id: string | null; file: string | null };
  new: { request_id: string | null; file: string | null };
  changes: { kind: "added" | "removed" | "changed"; claim: string; was: string | null }[];
  /** New and missing sources; empty if no statement changed. */
  sources: { added: string[]; removed: string[] };
  counts: Record<"added" | "removed" | "changed" | "same" | "not_compared", number>;
}

/** Compares two reports. Rejects with UsageError if one is structured and the other a text, or if one is too long. */
export async function diffReports(old: DiffSide, now: DiffSide): Promise<ReportDiff> {
  for (const { report } of [old, now]) checkReportSize(report);
  if ("text" in old.report !== "text" in now.report)
    throw new UsageError(
      "one of the results is structured, and the other is text",
      "Compare two structured results or two texts.",
    );
  const { compareReports, prepareForComparison } = await import("../reader/comparing/compare-reports.js");
  const [oldReport, newReport] = [prepareForComparison(old.report), prepareForComparison(now.report)];
  const [before, after] = compareReports(oldReport, newReport);
  const changes: ReportDiff["changes"] = [];
  for (const { text: claim, kind, other: was } of after) {
    if (kind === "changed") changes.push({ kind, claim, was });
    if (kind === "absent") changes.push({ kind: "added", claim, was });
  }
  for (const { text: claim, kind } of before)
    if (kind === "absent") changes.push({ kind: "removed", claim, was: null });
  const [ofOld, ofNew] = [
    mapPageAddresses(listNamedPages(old.result, oldReport.links)),
    mapPageAddresses(listNamedPages(now.result, newReport.links)),
  ];
  const count = (kind: string) => changes.filter((change) => change.kind === kind).length;
  const countNew = (...kinds: string[]) => after.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    old: describeDiffSide(old),
    new: describeDiffSide(now),
    changes,
    sources:
      changes.length > 0
        ? { added: listMissingPages(ofOld, ofNew), removed: listMissingPages(ofNew, ofOld) }
        : { added: [], removed: [] },
    counts: {
      ...{ added: count("added"), removed: count("removed"), changed: count("changed") },
      ...{ same: countNew("same", "open"), not_compared: countNew("none") },
    },
  };
}

function describeDiffSide({ target, file = null }: DiffSide) {
  return { request_id: target?.requestId ?? null, file };
}

/** Maps the normalized address of each page to the address that the report has. */
type Pages = ReadonlyMap<string, string>;

function mapPageAddresses(pages: readonly { url: string }[]): Pages {
  return new Map(pages.map(({ url }) => [normalizePageAddress(url) ?? url, url]));
}

function listMissingPages(present: Pages, all: Pages): string[] {
  return [...all].flatMap(([name, url]) => (present.has(name) ? [] : url));
}

import type { Result } from "../client/workflows/fetch-results.js";
import { findMemberText, isObject, JsonText, tryParseExact } from "../core/json/exact-json.js";
import { parseCitations } from "../core/protocol/citations.js";
import { formatCount, shortenLine } from "../core/text/format-text.js";
import type { CitedClaim, ReportClaims } from "../reader/checking/citations.js";
import type { Report } from "../reader/checking/report-checker.js";
import { UsageError } from "./errors.js";

export type { Report } from "../reader/checking/report-checker.js";

/** Maximum size of a report, in bytes. */
export const MAX_REPORT_BYTES = 2 << 20;

/** Throws UsageError if the text of a report is too long. */
export function checkReportSize(report: Report): void {
  if ("text" in report && Buffer.byteLength(report.text) > MAX_REPORT_BYTES)
    throw new UsageError(`the report is over ${MAX_REPORT_BYTES >> 20} MiB`, "Shorten it.");
}

/** Converts a result to a report: its text or its fields, with the provider's citations. */
export function convertToReport({ data, value }: Pick<Result, "data" | "value">): Report {
  const sources = Array.isArray(data.sources) ? data.sources.map((source) => Object(source).url) : [];
  const given = {
    citations: parseCitations(data.citations),
    sources: sources.map((url) => (typeof url === "string" ? url : "")),
  };
  return typeof value === "string" ? { text: value, given } : { value, given };
}

/** Reads the report in a file: Markdown or, if the name ends with `.json`, what `output --json` printed. Throws UsageError. */
export function parseReport(text: string, file: string): { report: Report; result: Result } {
  if (text.includes("\0"))
    throw new UsageError(
      `${file} is not text`,
      "Give a report as Markdown or docx, or what `output --json` printed.",
    );
  if (!/\.json$/i.test(file)) {
    const result = { data: {}, value: text, exact: {} };
    return { report: convertToReport(result), result };
  }
  const data = tryParseExact(text);
  if (data === undefined) throw new UsageError(`${file} is not JSON`);
  const isData = isObject(data) && Object.hasOwn(data, "output");
  const result = isData
    ? { data, value: data.output, exact: findMemberText(data, "output") ?? data }
    : { data: {}, value: data, exact: new JsonText(text) };
  return { report: convertToReport(result), result };
}

/** Converts a report in Word format to Markdown. `unread`: the parts that are not converted. Rejects with UsageError. */
export async function convertDocxToMarkdown(
  bytes: Uint8Array,
  file: string,
): Promise<{ markdown: string; unread: readonly string[] }> {
  const { convertDocxToMarkdown } = await import("../reader/parsing/documents/docx-markdown.js");
  try {
    return convertDocxToMarkdown(bytes);
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read as a Word document: ${(error as Error).message}`,
      "Save it once more as docx, or as Markdown.",
    );
  }
}

/** Lists the sentences of a report in order. A check judges those that cite a source. Adds notices to `notices`. */
export async function listReportClaims(report: Report, notices?: CheckNotice[]): Promise<CitedClaim[]> {
  const { listClaims } = await import("../reader/checking/report-checker.js");
  const cited = listClaims(report);
  notices?.push(...listCitationNotices(cited));
  return cited.claims;
}

export interface CheckNotice {
  code: "MARKS_WITHOUT_SOURCE" | "SOURCES_NOT_CITED";
  message: string;
}

export const EXPORT_HINT =
  "Export the report as Markdown or docx, with its links, instead of copying a web page. " +
  "If it is the result of a request of this machine, check the request by its id.";

/** Creates notices about marks of a report that lead to no source, and about listed sources that no sentence cites. */
export function listCitationNotices({ marksWithoutSource: marks, notCited }: ReportClaims): CheckNotice[] {
  const notices: CheckNotice[] = [];
  if (marks.length > 0)
    notices.push({
      code: "MARKS_WITHOUT_SOURCE",
      message: `${formatCount(marks.length, "mark")} of the report ${marks.length === 1 ? "leads" : "lead"} to no source, such as ${shortenLine(marks[0] ?? "", 80)}. ${EXPORT_HINT}`,
    });
  if (notCited.length > 0)
    notices.push({
      code: "SOURCES_NOT_CITED",
      message: `${formatCount(notCited.length, "listed source")} ${notCited.length === 1 ? "is" : "are"} cited by no sentence, such as ${notCited[0]}`,
    });
  return notices;
}

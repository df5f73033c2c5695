import { existsSync } from "node:fs";
import type { ReportToCheck } from "../../app/check-report.js";
import { UsageError } from "../../app/errors.js";
import {
  convertDocxToMarkdown,
  convertToReport,
  MAX_REPORT_BYTES,
  parseReport,
} from "../../app/parse-report.js";
import { readBytes, readText } from "../../app/read-text.js";
import { fetchResult, type Result } from "../../client/workflows/fetch-results.js";
import { findTarget } from "../../client/workflows/find-and-query-requests.js";
import type { Context } from "../command-context.js";
import type { ResultSource } from "./open-result-page.js";

/** Maximum size of a Word document, in bytes, including its pictures; only its text is unpacked. */
const MAX_DOCX_BYTES = 32 << 20;

/** A report that the user named by a request id or a file. */
export interface ReportSource extends ReportToCheck {
  /** The result that the HTML page shows. */
  result: Result;
  source: ResultSource;
}

/**
 * Reads the report in a file, or finds the request of an id, whose result the returned function then fetches. The name of an
 * existing file, or what looks like a file name, is a file; anything else is an id.
 */
export async function openReportSource(ctx: Context, name: string): Promise<() => Promise<ReportSource>> {
  const { host, signal } = ctx;
  if (/\.pdf$/i.test(name))
    throw new UsageError(
      `${name} is a PDF, and links in a PDF cannot be read`,
      "Export the report as Markdown or docx.",
    );
  const isFile =
    /\/|\\|\.(?:md|markdown|txt|json|docx)$/i.test(name) || (name !== "@last" && existsSync(name));
  if (name === "-" || isFile) {
    const file = name === "-" ? host.stdin.stream : name;
    if (/\.docx$/i.test(name)) {
      const { markdown, unread } = await convertDocxToMarkdown(
        await readBytes(name, "the report", signal, MAX_DOCX_BYTES),
        name,
      );
      for (const part of unread)
        await ctx.reporter.writeNotice(
          "NOT_READ",
          `the ${part} of ${name} are not read${part === "columns" ? " side by side, but as one text" : ""}`,
        );
      const report = { ...parseReport(markdown, `${name}.md`), file: name, source: {} };
      return async () => report;
    }
    const text = await readText(file, "the report", signal, MAX_REPORT_BYTES);
    const report = { ...parseReport(text, name), file: name, source: {} };
    return async () => report;
  }
  const target = findTarget(ctx, name);
  const { requestId } = target;
  const { prompt, created_at } = target.entry ?? {};
  const source = { requestId, origin: target.account.origin, question: prompt, createdAt: created_at };
  return async () => {
    const result = await fetchResult(target, { signal });
    return { report: convertToReport(result), result, target, source };
  };
}

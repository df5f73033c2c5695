import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHECK_LIMITS, checkReport, NotCheckedError, openChecker } from "../../../app/check-report.js";
import { openCitationJudge } from "../../../app/citation-judge.js";
import { getCheckExitCode } from "../../../app/errors.js";
import { keepCheckOutcome } from "../../../app/kept-check-outcome.js";
import { writeOutputFile } from "../../../app/output-file.js";
import { parseDomains } from "../../../app/parse-domains.js";
import { type CheckNotice, listReportClaims } from "../../../app/parse-report.js";
import { catchLocalError, hashSha256, LocalError, wrapFileErrors } from "../../../core/files/local-error.js";
import type { CheckOutcome } from "../../../core/protocol/check-outcome.js";
import { stringifySafe } from "../../../core/text/safe-text.js";
import type { Context } from "../../command-context.js";
import {
  type CitedAddress,
  formatCheckCounts,
  formatCheckForPeople,
  formatCheckProgress,
  formatCitationLines,
  formatCitedAddresses,
} from "../../requests/format-check.js";
import { createModelListener, describePlan } from "../../requests/model-listener.js";
import { openReportSource, type ReportSource } from "../../results/report-source.js";
import { checkResultOptions } from "../../results/show-result.js";
import { wrapForTerminal } from "../../terminal/reporter.js";
import type { Given } from "../shared-flags.js";

type CheckFlags = Given<"domains" | "dryRun" | "modelLimits"> &
  Pick<Given<"result">, "output" | "force" | "html"> & {
    model?: string;
    pages?: number;
    timeout?: number;
    sources?: string;
    allowPrivate?: boolean;
    all?: boolean;
    save?: string;
  };

/** Reads the pages that a report cites, and prints for each citing sentence whether the pages support it. */
export async function check(ctx: Context, name: string, options: CheckFlags): Promise<number> {
  const { reporter, signal, host } = ctx;
  const { output, force = false, html, save, dryRun } = options;
  checkResultOptions(options, reporter.json);
  if (save !== undefined) checkSaveFolder(save);
  const limits = {
    domains: parseDomains("--domains", options.domains),
    notDomains: parseDomains("--not-domains", options.notDomains),
  };
  const model = await openCitationJudge(ctx, options);
  const fetchReport = await openReportSource(ctx, name);
  const named = await fetchReport();
  const deliver = async (text: string) => {
    if (output === undefined || output === "-") return reporter.writeResult(text);
    writeOutputFile(output, text, force);
    await reporter.say(`wrote ${output}`);
  };
  if (dryRun) {
    const notices: CheckNotice[] = [];
    const claims = await listReportClaims(named.report, notices);
    const cited = claims.filter(({ urls }) => urls.length > 0);
    await reportCheckNotices(ctx, notices);
    if (model) await reporter.writeNotice("MODEL", describePlan(model, model.estimate(cited.length)));
    const addresses = groupCitationsByUrl(cited);
    const isForPeople = host.stdout.isTTY && output === undefined;
    const text = formatCitedAddresses(addresses, isForPeople);
    await deliver(
      reporter.json
        ? `${stringifySafe(addresses)}\n`
        : isForPeople
          ? wrapForTerminal(text, host.stdout, 4)
          : text,
    );
    return 0;
  }
  const { sources, allowPrivate, pages = CHECK_LIMITS.pages, timeout = CHECK_LIMITS.timeoutMs } = options;
  const { env, clock, version } = host;
  host.beforeRequests?.();
  await model?.requireAccess(signal);
  const checker = await openChecker({ env, clock, version, ...limits, sources, allowPrivate });
  let progress = formatCheckProgress({ done: 0, of: 0, hosts: [] });
  await reporter.startLive(() => progress);
  const show = (text: string) => {
    progress = text;
    reporter.redraw();
  };
  const texts = new Map<string, string>();
  const notices: CheckNotice[] = [];
  try {
    const { target } = named;
    const outcome = await checkReport(checker, named, {
      ...{ pages, timeoutMs: timeout, signal, model, notices },
      listener: model && {
        ...createModelListener(reporter, model),
        onProgress: (done, of) => show(`${done} of ${of} citations judged by the model`),
      },
      onProgress: (now) => show(formatCheckProgress(now)),
      onText: save === undefined ? undefined : ({ url }, text) => texts.set(url, text),
    }).finally(async () => {
      reporter.stopLive();
      await reportCheckNotices(ctx, notices);
    });
    // If the outcome cannot be kept, only the marks of `output --html` are missing; the verdicts may have been paid for.
    const isWorthKeeping = !signal.aborted || (outcome.complete && model !== undefined);
    const notKept =
      target && isWorthKeeping ? catchLocalError(() => keepCheckOutcome(target, outcome)) : undefined;
    if (notKept) await reporter.writeNotice("NOT_KEPT", notKept.message);
    await deliver(await formatOutcome(ctx, named, outcome, options));
    if (save !== undefined) savePageTexts(save, texts, outcome);
    await warnOfFewPages(ctx, outcome);
    const isRead = host.stdout.isTTY && output === undefined;
    if (!isRead || html) await reporter.say(formatCheckCounts(outcome));
    else
      await reporter.say(
        target
          ? `\`research output ${target.requestId} --html\` gives the report with a mark at each citation`
          : "with --html the same command gives the report as a page, with a mark at each citation",
      );
    signal.throwIfAborted();
    return getCheckExitCode(outcome);
  } catch (error) {
    if (error instanceof NotCheckedError && reporter.json) await deliver(`${stringifySafe(error.outcome)}\n`);
    throw error;
  } finally {
    checker.close();
    await model?.close();
  }
}

async function formatOutcome(
  ctx: Context,
  named: ReportSource,
  outcome: CheckOutcome,
  { html, output, all }: CheckFlags,
): Promise<string> {
  const { reporter, host } = ctx;
  if (reporter.json) return `${stringifySafe(outcome)}\n`;
  if (html) {
    const { buildResultPage } = await import("../../results/open-result-page.js");
    return buildResultPage(named.result, { ...named.source, check: outcome });
  }
  if (!host.stdout.isTTY || output !== undefined) return formatCitationLines(outcome);
  return wrapForTerminal(
    `${formatCheckForPeople(outcome, await reporter.loadStyle(), all)}${formatCheckCounts(outcome)}\n`,
    host.stdout,
    2,
  );
}

/** Groups citations by address, in the order in which the addresses are first cited. */
function groupCitationsByUrl(claims: Awaited<ReturnType<typeof listReportClaims>>): CitedAddress[] {
  const byUrl = new Map<string, CitedAddress>();
  for (const { text, field = null, urls } of claims)
    for (const url of urls) {
      const address = byUrl.get(url) ?? { url, citations: [] };
      address.citations.push({ claim: text, field });
      byUrl.set(url, address);
    }
  return [...byUrl.values()];
}

async function reportCheckNotices({ reporter }: Context, notices: readonly CheckNotice[]): Promise<void> {
  for (const { code, message } of notices) await reporter.writeNotice(code, message);
}

async function warnOfFewPages({ reporter }: Context, { pages }: CheckOutcome): Promise<void> {
  const read = pages.filter(({ state }) => state === "read").length;
  if (read * 2 < pages.length)
    await reporter.writeNotice("FEW_PAGES", `only ${read} of ${pages.length} pages could be read`);
}

/** Throws LocalError unless `path` is a new or an empty folder. */
function checkSaveFolder(path: string): void {
  const names = wrapFileErrors(`the folder ${path} cannot be used`, () =>
    existsSync(path) ? readdirSync(path) : [],
  );
  if (names.length > 0) throw new LocalError(`the folder ${path} is not empty; name another one for --save`);
}

/** Writes the texts of pages and the outcome into a folder. Throws LocalError. */
function savePageTexts(path: string, texts: ReadonlyMap<string, string>, outcome: CheckOutcome): void {
  wrapFileErrors(`the pages could not be written to ${path}`, () => {
    mkdirSync(path, { recursive: true });
    for (const [url, text] of texts)
      writeFileSync(join(path, `${hashSha256(url)}.txt`), text, { flag: "wx" });
    writeFileSync(join(path, "check.json"), `${stringifySafe(outcome, 2)}\n`, { flag: "wx" });
  });
}

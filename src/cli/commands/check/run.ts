import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CHECK_LIMITS,
  type CheckProgress,
  checkOf,
  claimsIn,
  exitCodeOfCheck,
  keepCheck,
  MAX_REPORT_BYTES,
  openChecker,
  type Report,
  reportIn,
  reportOf,
} from "../../../app/check.js";
import { domainsIn } from "../../../app/domains.js";
import { writeTarget } from "../../../app/output-file.js";
import { readText } from "../../../app/read-text.js";
import type { Ports } from "../../../client/workflows/ports.js";
import { resolveTarget, type Target } from "../../../client/workflows/requests.js";
import { fetchResult, type Result } from "../../../client/workflows/results.js";
import { LocalError, localErrorOf, orLocalError, sha256 } from "../../../core/files/local-error.js";
import type { CheckOutcome } from "../../../core/protocol/check-outcome.js";
import { safeJson } from "../../../core/text/safe-text.js";
import type { Context } from "../../context.js";
import { citationLines, countsText, progressText, wrongLines } from "../../requests/check-text.js";
import type { ResultSource } from "../../results/page.js";
import { checkResultOptions } from "../../results/show.js";
import { fitted } from "../../terminal/reporter.js";
import type { Given } from "../flags.js";

type CheckFlags = Given<"domains" | "dryRun"> &
  Pick<Given<"result">, "output" | "force" | "html"> & {
    pages?: number;
    timeout?: number;
    sources?: string;
    allowPrivate?: boolean;
    save?: string;
  };

interface Named {
  report: Report;
  requestId: string | null;
  file: string | null;
  /** Of a request: where its check is kept. */
  kept?: { ports: Ports; target: Target };
  /** What a page of it shows. */
  result: Result;
  source: ResultSource;
}

/** Reads the pages that a report cites, and says of each sentence whether they say it. */
export async function check(ctx: Context, name: string, options: CheckFlags): Promise<number> {
  const { reporter, signal, host } = ctx;
  const { output, force = false, html, save, dryRun } = options;
  checkResultOptions(options, reporter.json);
  if (save !== undefined) checkSaveFolder(save);
  const limits = {
    domains: domainsIn("--domains", options.domains),
    notDomains: domainsIn("--not-domains", options.notDomains),
  };
  const named = await reportNamed(ctx, name);
  const deliver = async (text: string) => {
    if (output === undefined || output === "-") return reporter.result(text);
    writeTarget(output, text, force);
    await reporter.say(`wrote ${output}`);
  };
  if (dryRun) {
    const claims = await claimsIn(named.report);
    const addresses = [...new Set(claims.flatMap(({ urls }) => urls))];
    await deliver(reporter.json ? `${safeJson(addresses)}\n` : addresses.map((one) => `${one}\n`).join(""));
    return 0;
  }
  const { sources, allowPrivate, pages = CHECK_LIMITS.pages, timeout = CHECK_LIMITS.timeoutMs } = options;
  const { env, clock, version } = host;
  host.beforeRequests?.();
  const checker = await openChecker({ env, clock, version, ...limits, sources, allowPrivate });
  let progress: CheckProgress = { done: 0, of: 0, hosts: [] };
  await reporter.startLive(() => progressText(progress));
  const texts = new Map<string, string>();
  try {
    const { report, requestId, file } = named;
    const outcome = await checkOf(
      checker,
      report,
      { request_id: requestId, file },
      {
        ...{ pages, timeoutMs: timeout, signal },
        onProgress(now) {
          progress = now;
          reporter.redraw();
        },
        onText: save === undefined ? undefined : ({ url }, text) => texts.set(url, text),
      },
    );
    reporter.stopLive();
    const { kept } = named;
    // That it cannot be kept costs the marks of `output --html` and no verdict.
    const notKept =
      kept && !signal.aborted ? localErrorOf(() => keepCheck(kept.ports, kept.target, outcome)) : undefined;
    if (notKept) await reporter.notice("NOT_KEPT", notKept.message);
    await deliver(await shown(ctx, named, outcome, options));
    if (save !== undefined) saveTexts(save, texts, outcome);
    await sayFew(ctx, outcome);
    const isRead = host.stdout.isTTY && output === undefined;
    if (!isRead || html) await reporter.say(countsText(outcome));
    signal.throwIfAborted();
    return exitCodeOfCheck(outcome);
  } finally {
    reporter.stopLive();
    checker.close();
  }
}

async function shown(
  ctx: Context,
  named: Named,
  outcome: CheckOutcome,
  { html, output }: CheckFlags,
): Promise<string> {
  const { reporter, host } = ctx;
  if (reporter.json) return `${safeJson(outcome)}\n`;
  if (html) {
    const { pageOf } = await import("../../results/page.js");
    return pageOf(named.result, { ...named.source, check: outcome });
  }
  if (!host.stdout.isTTY || output !== undefined) return citationLines(outcome);
  return fitted(`${wrongLines(outcome, await reporter.style())}${countsText(outcome)}\n`, host.stdout, 2);
}

async function sayFew({ reporter }: Context, { pages }: CheckOutcome): Promise<void> {
  const read = pages.filter(({ state }) => state === "read").length;
  if (read * 2 < pages.length)
    await reporter.notice("FEW_PAGES", `only ${read} of ${pages.length} pages could be read`);
}

/** What exists as a file, or looks like the name of one, is a file; all else is an id. */
async function reportNamed(ctx: Context, name: string): Promise<Named> {
  const { host, signal } = ctx;
  const isFile = /\/|\\|\.(?:md|markdown|txt|json)$/i.test(name) || (name !== "@last" && existsSync(name));
  if (name === "-" || isFile) {
    const file = name === "-" ? host.stdin.stream : name;
    const text = await readText(file, "the report", signal, MAX_REPORT_BYTES);
    const { report, result } = reportIn(text, name);
    return { report, result, requestId: null, file: name, source: {} };
  }
  const target = resolveTarget(ctx, name);
  const ports = target.at ?? ctx;
  const result = await fetchResult(ports, target, { signal });
  const { requestId } = target;
  const { prompt, created_at } = target.entry ?? {};
  const source = { requestId, origin: ports.origin, question: prompt, createdAt: created_at };
  return { report: reportOf(result), result, requestId, file: null, kept: { ports, target }, source };
}

/** Throws LocalError if `--save` names anything but a new or an empty folder. */
function checkSaveFolder(path: string): void {
  const names = orLocalError(`the folder ${path} cannot be used`, () =>
    existsSync(path) ? readdirSync(path) : [],
  );
  if (names.length > 0) throw new LocalError(`the folder ${path} is not empty; name another one for --save`);
}

/** Throws LocalError. */
function saveTexts(path: string, texts: ReadonlyMap<string, string>, outcome: CheckOutcome): void {
  orLocalError(`the pages could not be written to ${path}`, () => {
    mkdirSync(path, { recursive: true });
    for (const [url, text] of texts) writeFileSync(join(path, `${sha256(url)}.txt`), text, { flag: "wx" });
    writeFileSync(join(path, "check.json"), `${safeJson(outcome, 2)}\n`, { flag: "wx" });
  });
}

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatResult, formatWithSources } from "../../app/format-result.js";
import { convertToReport, listReportClaims, type Report } from "../../app/parse-report.js";
import type { Result } from "../../client/workflows/fetch-results.js";
import { wrapFileErrors } from "../../core/files/local-error.js";
import { readString } from "../../core/json/exact-json.js";
import {
  type PageResult,
  type ResultOrigin,
  renderResultPage,
} from "../../core/markdown/html/result-page.js";
import type { VerdictMark } from "../../core/markdown/html/verdict-marks.js";
import type { CheckOutcome, Verdict } from "../../core/protocol/check-outcome.js";
import { removeSecrets } from "../../core/secrets/remove-secrets.js";
import { formatCheckCounts } from "../requests/format-check.js";
import type { Host } from "../terminal/host.js";
import type { Terminal } from "../terminal/reporter.js";

/** What is known about where a result comes from. */
export interface ResultSource extends Omit<ResultOrigin, "createdAt"> {
  /** The time as the service returned it. */
  createdAt?: unknown;
  /** The outcome of the result's last check. */
  check?: CheckOutcome | undefined;
}

/** Renders a result as one HTML page, with the marks of its last check, if any. */
export async function buildResultPage(
  result: Result,
  { createdAt, check, ...source }: ResultSource,
): Promise<string> {
  const { completed_at = source.completedAt } = result.data;
  return renderResultPage(
    {
      kind: typeof result.value === "string" ? "markdown" : "json",
      text: formatWithSources(result),
      digestOf: formatResult(result),
      marks: check && (await buildVerdictMarks(convertToReport(result), check)),
    },
    { ...source, createdAt: readString(createdAt), completedAt: readString(completed_at) },
  );
}

/** Returns the marks of a check for the report's page; undefined if the number of citations has changed since. */
async function buildVerdictMarks(report: Report, outcome: CheckOutcome): Promise<PageResult["marks"]> {
  const claims = await listReportClaims(report);
  const ends = claims.filter(({ urls }) => urls.length > 0).map(({ end }) => end);
  if (ends.length !== outcome.citations.length) return undefined;
  const { checked_at, citations } = outcome;
  const all = citations.map(({ claim, field, urls, ...citation }, i): VerdictMark => {
    const { verdict, missing, reason, passage, support = null, quote = null } = citation;
    const notes =
      missing.length > 0 ? [`not on the page: ${missing.join("; ")}`] : reason === null ? [] : [reason];
    if (support !== null) notes.push(`${support.replace("_", " ")} by the page, says ${outcome.model}`);
    const isContradicted = support === "contradicted";
    const word = isContradicted ? support : verdict;
    const look = isContradicted ? "bad" : LOOKS[verdict];
    return { end: ends[i] ?? 0, field, word, look, claim, notes, passage: quote ?? passage, urls };
  });
  return {
    all,
    uncited: claims.flatMap(({ urls, end, field = null }) => (urls.length > 0 ? [] : { end, field })),
    summary: `Checked ${checked_at}. ${formatCheckCounts(outcome)}. ${CAVEAT}`,
  };
}

const LOOKS: Record<Verdict, VerdictMark["look"]> = {
  found: "done",
  unchecked: "idle",
  unreadable: "idle",
  missing: "bad",
  gone: "bad",
};
const CAVEAT =
  "A sentence that is found on a page may still be false, and one that is not found may be true.";

/** Writes the page to a file that only its owner can read, and opens it. If no browser starts, writes the path to stdout. */
export async function openResultPage(
  terminal: Terminal,
  result: Result,
  source: ResultSource,
): Promise<void> {
  const { host, reporter, signal } = terminal;
  const path = writePrivateFile(
    `${(source.requestId ?? "result").replaceAll(":", "_").slice(0, 100)}.html`,
    await buildResultPage(result, source),
  );
  if (await openInBrowser(host, path, signal)) return reporter.say(`opened ${path}`);
  await reporter.writeNotice("NOT_OPENED", "could not start a browser: open the file yourself");
  await reporter.writeResult(`${path}\n`);
}

/** Writes a file in a new private folder and returns its path. Throws LocalError. */
function writePrivateFile(name: string, text: string): string {
  return wrapFileErrors("the page could not be written", () => {
    const path = join(mkdtempSync(join(tmpdir(), "research-")), name);
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return path;
  });
}

/** Milliseconds after which a browser that has not failed counts as started. */
const STARTED_MS = 3_000;

/** Opens a file with a command of `BROWSER`, or else the platform's opener. Returns whether one was started. Rejects with `signal.reason`. */
export async function openInBrowser(
  { env, platform, clock }: Pick<Host, "env" | "platform" | "clock">,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (const command of listBrowserCommands(env.BROWSER, platform)) {
    const [program = "", ...words] = command.map((word) => word.replaceAll("%s", path));
    const args = command.some((word) => word.includes("%s")) ? words : [...words, path];
    const enough = new AbortController();
    const started = clock.sleep(STARTED_MS, AbortSignal.any([signal, enough.signal])).then(() => true);
    started.catch(() => {});
    try {
      if (await Promise.race([tryProgram(program, args, removeSecrets(env)), started])) return true;
    } finally {
      enough.abort();
    }
  }
  return false;
}

/** Lists the commands to try, each as its words. No shell reads the words, so nothing in a path is evaluated. */
export function listBrowserCommands(browser: string | undefined, platform: NodeJS.Platform): string[][] {
  if (!browser?.trim()) return [[platform === "darwin" ? "open" : "xdg-open"]];
  if (existsSync(browser)) return [[browser]];
  return browser.split(":").flatMap((command) => (command.trim() ? [command.trim().split(/\s+/)] : []));
}

/** Resolves with true if the program ended with 0, else with false. Stays pending while the program runs. */
function tryProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    // In its own process group, the browser survives the end of this command and Ctrl-C.
    const child = spawn(program, args, { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.unref();
  });
}

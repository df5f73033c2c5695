import { readdirSync } from "node:fs";
import { getService } from "../client/store/history/records.js";
import type { Ports } from "../client/workflows/ports.js";
import { isAt, type Target } from "../client/workflows/requests.js";
import { fetchResult, type Result } from "../client/workflows/results.js";
import type { Clock } from "../core/clock.js";
import { catchLocalError, type Environment, runLocally } from "../core/files/local-error.js";
import { chooseProxy } from "../core/http/address.js";
import { findMemberText, isObject, JsonText, readJsonPath } from "../core/json/exact-json.js";
import type { Checked, CheckOutcome } from "../core/protocol/check-outcome.js";
import { readCitations } from "../core/protocol/citations.js";
import { formatCount, shortenLine } from "../core/text/phrases.js";
import type { Checker, CheckOptions, Report } from "../reader/checking/check.js";
import type { CitedClaim, ReportClaims } from "../reader/checking/citations.js";
import type { DomainLimits } from "../reader/fetching/addresses.js";
import type { CutDocument } from "../reader/reading/documents/document.js";
import { type CheckModel, type ModelListener, reuseAnswers } from "./check-model.js";
import { CodedError, UsageError } from "./errors.js";
import type { Machine } from "./machine.js";

export type { Checker, CheckProgress, Report } from "../reader/checking/check.js";

export interface CheckSetup {
  env: Environment;
  clock: Clock;
  /** The version for the User-Agent, if it is known. */
  version?: string | undefined;
  /** Whether hosts that a report names may have private addresses. */
  allowPrivate?: boolean | undefined;
  domains?: DomainLimits["domains"] | undefined;
  notDomains?: DomainLimits["notDomains"] | undefined;
  sources?: string | undefined;
}

/** The limits of one report, unless a flag sets others. */
export const CHECK_LIMITS = { pages: 100, timeoutMs: 600_000 };
/** The largest report that is read, in bytes. */
export const MAX_REPORT_BYTES = 2 << 20;

/** Throws UsageError for a text that is too long. */
export function checkReportSize(report: Report): void {
  if ("text" in report && Buffer.byteLength(report.text) > MAX_REPORT_BYTES)
    throw new UsageError(`the report is over ${MAX_REPORT_BYTES >> 20} MiB`, "Shorten it.");
}

/** Opens a reader for the pages of reports; the caller closes it. */
export async function openChecker(setup: CheckSetup): Promise<Checker> {
  const { env, clock, version, allowPrivate, domains = [], notDomains = [], sources } = setup;
  const { Checker } = await import("../reader/checking/check.js");
  const { explainOutside, checkPublicWeb, allowNamedPrivate } = await import(
    "../reader/fetching/addresses.js"
  );
  const { createResolver } = await import("../reader/fetching/resolver.js");
  const { createDocumentReader } = await import("../reader/reading/documents/document.js");
  const read = createDocumentReader(clock, 2);
  const lookedUp = new Set<string>();
  return new Checker({
    network: {
      resolve: createResolver({ clock, onAnswer: (name) => lookedUp.add(name) }),
      proxyFor: (url) => chooseProxy(url, env),
    },
    accessTo: (named) => (allowPrivate ? allowNamedPrivate(named) : checkPublicWeb),
    ...{ clock, version, read },
    isInDns: (name) => lookedUp.has(name),
    forbidden: ({ hostname }) => explainOutside({ domains, notDomains }, hostname),
    readFile: sources === undefined ? undefined : await openFileReader(sources, read),
  });
}

/** Opens the same with the proxy and the clock of an account. */
export function openMachineChecker(machine: Machine, allowPrivate = false): Promise<Checker> {
  const { clock, clientOptions } = machine;
  return openChecker({ env: clientOptions.proxyEnvironment ?? {}, clock, allowPrivate });
}

/** Reads the same files of a folder as `try --sources`. Rejects with LocalError. */
async function openFileReader(
  root: string,
  read: (task: { name: string; bytes: Uint8Array }, signal: AbortSignal) => Promise<CutDocument>,
): Promise<(name: string) => Promise<CutDocument>> {
  const { findSources } = await import("../reader/reading/files/walk.js");
  const { readBytes } = await import("../reader/reading/files/read-file.js");
  runLocally(`the folder ${root} could not be read`, () => readdirSync(root));
  const names = new Set((await findSources(root)).files.map(({ name }) => name));
  return async (name) => {
    if (!names.has(name)) return { reason: "no such file is read under --sources" };
    const bytes = readBytes(root, name);
    return "reason" in bytes ? bytes : read({ name, bytes }, new AbortController().signal);
  };
}

/** No citation of a report could be checked; `outcome` holds the other findings. */
export class NotCheckedError extends CodedError {
  constructor(
    readonly outcome: CheckOutcome,
    message: string,
    hint: string,
  ) {
    super("NOT_CHECKED", message, { hint });
  }
}

export interface CheckNotice {
  code: "MARKS_WITHOUT_SOURCE" | "SOURCES_NOT_CITED";
  message: string;
}

/** The options of a check. With a model: the model, the receiver of its events, and an earlier check whose answers are reused. */
export interface ReportCheckOptions extends Omit<CheckOptions, "onCited" | "findSupport"> {
  /** Called with the dead references and unused sources of the report, before any page is requested. */
  onNotice?: (notice: CheckNotice) => void;
  model?: CheckModel | undefined;
  listener?: ModelListener | undefined;
  earlier?: CheckOutcome | undefined;
}

const EXPORT_HINT =
  "Export the report with its links, as Markdown or docx, in place of a copy of what the page shows; " +
  "of a request of this machine, check the id.";

/** Checks one report. Rejects with NotCheckedError. */
export async function checkOf(
  checker: Checker,
  report: Report,
  named: Pick<CheckOutcome, "request_id" | "file">,
  { onNotice, model, listener = {}, earlier, ...options }: ReportCheckOptions,
): Promise<CheckOutcome> {
  checkReportSize(report);
  const { NotChecked } = await import("../reader/checking/check.js");
  const onCited = (cited: ReportClaims) => {
    for (const notice of listNotices(cited)) onNotice?.(notice);
  };
  const findSupport =
    model?.createFinder(listener, options.signal, earlier) ??
    (earlier?.model ? reuseAnswers(earlier) : undefined);
  const nameModel = ({ citations }: Checked) =>
    model?.name ?? (citations.some(({ support }) => support !== null) ? (earlier?.model ?? null) : null);
  const checked = await checker
    .check(report, { ...options, onCited, findSupport })
    .catch((error: unknown) => {
      if (!(error instanceof NotChecked)) throw error;
      const outcome = { ...named, ...error.checked, model: nameModel(error.checked) };
      const { asked, answered } = error;
      if (asked === 0)
        throw new NotCheckedError(
          outcome,
          "no mark of the report leads to a source: nothing was checked",
          EXPORT_HINT,
        );
      const pages = asked === 1 ? "the page that it cites" : `any of the ${asked} pages that it cites`;
      throw answered === 0
        ? new NotCheckedError(
            outcome,
            `no answer came from ${pages}: nothing was checked`,
            "Is there a network? `research doctor` looks.",
          )
        : new NotCheckedError(
            outcome,
            `${asked === 1 ? "the page that it cites could not" : `none of the ${asked} pages that it cites could`} be read: nothing was checked`,
            "`--json` says why for each page. Open the pages in a browser.",
          );
    });
  return { ...named, ...checked, model: nameModel(checked) };
}

/** Lists the marks of a report that lead to no source, and the listed sources that no sentence cites. */
function listNotices({ marksWithoutSource: marks, notCited }: ReportClaims): CheckNotice[] {
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

/** Checks the result of a request, and keeps the outcome unless the check will be resumed later. */
export async function checkRequest(
  checker: Checker,
  ports: Ports,
  target: Target,
  options: ReportCheckOptions,
): Promise<CheckOutcome> {
  const { signal, goesOn } = options;
  const result = await fetchResult(ports, target, { signal });
  const named = { request_id: target.requestId, file: null };
  const earlier = readKeptCheck(ports, target.requestId);
  const outcome = await checkOf(checker, reportOf(result), named, { ...options, earlier });
  signal.throwIfAborted();
  // The caller has the outcome, so a failure to keep it is not an error.
  if (outcome.complete || !goesOn) catchLocalError(() => keepCheck(ports, target, outcome));
  return outcome;
}

/** Reads a result as a report: its text or its fields, with the provider's citations. */
export function reportOf({ data, value }: Pick<Result, "data" | "value">): Report {
  const sources = Array.isArray(data.sources) ? data.sources.map((source) => Object(source).url) : [];
  const given = {
    citations: readCitations(data.citations),
    sources: sources.map((url) => (typeof url === "string" ? url : "")),
  };
  return typeof value === "string" ? { text: value, given } : { value, given };
}

/** Reads the report in a file: Markdown or, if the name ends in `.json`, the output of `output --json`. Throws UsageError. */
export function reportIn(text: string, file: string): { report: Report; result: Result } {
  if (text.includes("\0"))
    throw new UsageError(
      `${file} is not text`,
      "Give a report in Markdown, or what `output --json` printed.",
    );
  if (!/\.json$/i.test(file)) {
    const result = { data: {}, value: text, exact: {} };
    return { report: reportOf(result), result };
  }
  const data = readJsonPath(text);
  if (data === undefined) throw new UsageError(`${file} is not JSON`);
  const isData = isObject(data) && Object.hasOwn(data, "output");
  const result = isData
    ? { data, value: data.output, exact: findMemberText(data, "output") ?? data }
    : { data: {}, value: data, exact: new JsonText(text) };
  return { report: reportOf(result), result };
}

/** Converts a Word report to Markdown. Rejects with UsageError. */
export async function convertDocxToMarkdown(
  bytes: Uint8Array,
  file: string,
): Promise<{ markdown: string; hasBoxes: boolean }> {
  const { convertDocxToMarkdown } = await import("../reader/reading/documents/docx-markdown.js");
  try {
    return convertDocxToMarkdown(bytes);
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read as a Word document: ${(error as Error).message}`,
      "Save it once more as docx, or as Markdown.",
    );
  }
}

/** Lists the sentences of a report in order; a check judges the sentences that cite a source. */
export async function readClaims(
  report: Report,
  onNotice?: ReportCheckOptions["onNotice"],
): Promise<CitedClaim[]> {
  const { listClaims } = await import("../reader/checking/check.js");
  const cited = listClaims(report);
  if (onNotice) for (const notice of listNotices(cited)) onNotice(notice);
  return cited.claims;
}

type KeptPorts = Pick<Ports, "history" | "origin" | "basePath">;

/**
 * Keeps the check of a request's result for as long as the result itself. An incomplete check does not replace a
 * complete one whose citations a model has judged. Throws LocalError.
 */
export function keepCheck(ports: KeptPorts, { requestId, entry }: Target, outcome: CheckOutcome): void {
  const { history } = ports;
  if (!entry || !isAt(entry, ports)) return;
  const earlier = outcome.complete ? undefined : readKeptCheck(ports, requestId);
  const isPoorer = earlier?.complete && earlier.model && (outcome.model ?? earlier.model) === earlier.model;
  if (isPoorer) return;
  history?.keep(history.checks, { ...entry, request_id: requestId }, JSON.stringify(outcome), true);
}

export function readKeptCheck(
  { history, origin, basePath }: KeptPorts,
  requestId: string,
): CheckOutcome | undefined {
  const text = history?.checks.read(getService({ origin, base_path: basePath }), requestId);
  const kept = readJsonPath(text ?? "");
  return isObject(kept) && Array.isArray(kept.citations) && isObject(kept.counts)
    ? (kept as unknown as CheckOutcome)
    : undefined;
}

/** Returns 14 if a source does not support or contradicts its sentence, or is gone (contract §11). */
export function exitCodeOfCheck({ counts }: { counts: Readonly<Record<string, number>> }): 0 | 14 {
  const { missing = 0, gone = 0, contradicted = 0 } = counts;
  return missing + gone + contradicted > 0 ? 14 : 0;
}

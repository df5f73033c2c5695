import { readdirSync } from "node:fs";
import { fetchResult } from "../client/workflows/fetch-results.js";
import type { Target } from "../client/workflows/find-and-query-requests.js";
import type { Clock } from "../core/clock.js";
import { catchLocalError, type Environment, wrapFileErrors } from "../core/files/local-error.js";
import { chooseProxy } from "../core/http/base-url-and-proxy.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { ReportClaims } from "../reader/checking/citations.js";
import type { Checker, CheckOptions, Report } from "../reader/checking/report-checker.js";
import type { DomainLimits } from "../reader/fetching/allowed-addresses.js";
import type { CutDocument } from "../reader/parsing/documents/document-reader.js";
import { type CitationJudge, createEarlierAnswerFinder, type ModelListener } from "./citation-judge.js";
import { CodedError } from "./errors.js";
import { keepCheckOutcome, readKeptOutcome } from "./kept-check-outcome.js";
import {
  type CheckNotice,
  checkReportSize,
  convertToReport,
  EXPORT_HINT,
  listCitationNotices,
} from "./parse-report.js";

export type { Checker, CheckProgress } from "../reader/checking/report-checker.js";

export interface CheckSetup {
  env: Environment;
  clock: Clock;
  /** The program's version for the User-Agent, if known. */
  version?: string | undefined;
  /** Whether hosts that the report names may have private addresses. */
  allowPrivate?: boolean | undefined;
  domains?: DomainLimits["domains"] | undefined;
  notDomains?: DomainLimits["notDomains"] | undefined;
  sources?: string | undefined;
}

/** The limits for one report, if no flag sets them. */
export const CHECK_LIMITS = { pages: 100, timeoutMs: 600_000 };

/** Opens a checker, which reads the pages of reports. The caller has to close it. */
export async function openChecker(setup: CheckSetup): Promise<Checker> {
  const { env, clock, version, allowPrivate, domains = [], notDomains = [], sources } = setup;
  const { Checker } = await import("../reader/checking/report-checker.js");
  const { explainOutsideLimits, checkPublicWeb, allowNamedPrivate } = await import(
    "../reader/fetching/allowed-addresses.js"
  );
  const { createDnsResolver } = await import("../reader/fetching/dns-resolver.js");
  const { createDocumentReader } = await import("../reader/parsing/documents/document-reader.js");
  const read = createDocumentReader(clock, 2);
  const lookedUp = new Set<string>();
  return new Checker({
    network: {
      resolve: createDnsResolver({ clock, onAnswer: (name) => lookedUp.add(name) }),
      proxyFor: (url) => chooseProxy(url, env),
    },
    accessTo: (named) => (allowPrivate ? allowNamedPrivate(named) : checkPublicWeb),
    ...{ clock, version, read },
    isInDns: (name) => lookedUp.has(name),
    forbidden: ({ hostname }) => explainOutsideLimits({ domains, notDomains }, hostname),
    readFile: sources === undefined ? undefined : await openFileReader(sources, read),
  });
}

/** Opens a function that reads the files that `try --sources` would read. Rejects with LocalError. */
async function openFileReader(
  root: string,
  read: (task: { name: string; bytes: Uint8Array }, signal: AbortSignal) => Promise<CutDocument>,
): Promise<(name: string) => Promise<CutDocument>> {
  const { findSourceFiles } = await import("../reader/parsing/files/find-source-files.js");
  const { readSourceFile } = await import("../reader/parsing/files/read-file.js");
  wrapFileErrors(`the folder ${root} could not be read`, () => readdirSync(root));
  const names = new Set((await findSourceFiles(root)).files.map(({ name }) => name));
  return async (name) => {
    if (!names.has(name)) return { reason: "no such file is read under --sources" };
    const bytes = readSourceFile(root, name);
    return "reason" in bytes ? bytes : read({ name, bytes }, new AbortController().signal);
  };
}

/** Thrown if no citation of a report could be checked. `outcome` has the other findings. */
export class NotCheckedError extends CodedError {
  constructor(
    readonly outcome: CheckOutcome,
    message: string,
    hint: string | undefined,
  ) {
    super("NOT_CHECKED", message, { hint });
  }
}

/** A report, with the request or the file from which it comes. */
export interface ReportToCheck {
  report: Report;
  target?: Target;
  file?: string | null;
}

/** The options of a check. `model` judges the citations, and `listener` gets its events. */
export interface ReportCheckOptions extends Omit<CheckOptions, "onCited" | "findSupport"> {
  /** Gets notices about dead references and unused sources, before any page is requested. */
  notices?: CheckNotice[];
  model?: CitationJudge | undefined;
  listener?: ModelListener | undefined;
}

/** Checks one report. Reuses the answers of a kept check of the same request. Rejects with NotCheckedError. */
export async function checkReport(
  checker: Checker,
  { report, target, file = null }: ReportToCheck,
  { notices, model, listener = {}, ...options }: ReportCheckOptions,
): Promise<CheckOutcome> {
  checkReportSize(report);
  const earlier = target && readKeptOutcome(target);
  const onCited = (cited: ReportClaims) => void notices?.push(...listCitationNotices(cited));
  const findSupport =
    model?.createFinder(listener, options.signal, earlier) ??
    (earlier?.model ? createEarlierAnswerFinder(earlier) : undefined);
  const { checked, unreached } = await checker.check(report, { ...options, onCited, findSupport });
  const isJudged = checked.citations.some(({ support }) => support !== null);
  const judge = model?.name ?? (isJudged ? (earlier?.model ?? null) : null);
  const outcome = { request_id: target?.requestId ?? null, file, ...checked, model: judge };
  if (unreached === undefined) return outcome;
  const [why, hint] = explainNotChecked(unreached);
  throw new NotCheckedError(outcome, `${why}: nothing was checked`, hint);
}

function explainNotChecked({ asked, answered }: { asked: number; answered: number }): [string, string] {
  if (asked === 0) return ["no citation mark of the report leads to a source", EXPORT_HINT];
  const [any, none] =
    asked === 1 ? ["the page", "the page"] : [`any of the ${asked} pages`, `none of the ${asked} pages`];
  return answered === 0
    ? [`no answer came from ${any} that the report cites`, "Check your network: run `research doctor`."]
    : [
        `${none} that the report cites could${asked === 1 ? " not" : ""} be read`,
        "`--json` gives the reason for each page. You can open the pages in a browser.",
      ];
}

/** Checks the result of a request. Keeps the outcome, unless the check is incomplete and goes on later. */
export async function checkRequest(
  checker: Checker,
  target: Target,
  options: ReportCheckOptions,
): Promise<CheckOutcome> {
  const { signal, goesOn } = options;
  const result = await fetchResult(target, { signal });
  const outcome = await checkReport(checker, { report: convertToReport(result), target }, options);
  signal.throwIfAborted();
  // The caller already has the outcome, so a failure to keep it is ignored.
  if (outcome.complete || !goesOn) catchLocalError(() => keepCheckOutcome(target, outcome));
  return outcome;
}

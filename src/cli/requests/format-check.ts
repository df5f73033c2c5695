import type { CheckProgress } from "../../app/check-report.js";
import {
  type CheckedCitation,
  type CheckOutcome,
  SUPPORTS,
  VERDICTS,
  type Verdict,
} from "../../core/protocol/check-outcome.js";
import { formatCount } from "../../core/text/format-text.js";
import { escapeLine, escapeText } from "../../core/text/safe-text.js";
import type { Style } from "../terminal/style.js";

const WRONG: ReadonlySet<Verdict> = new Set(["missing", "gone"]);

/** Formats one line for each citation: verdict, addresses, missing figures, sentence and, with a model, its answer. */
export function formatCitationLines({ citations, model }: Pick<CheckOutcome, "citations" | "model">): string {
  return citations
    .map(({ verdict, urls, missing, claim, support }) => {
      const addresses = urls.map((url) => url.replace(/\s/g, "%20")).join(" ");
      const columns = [
        verdict,
        addresses,
        missing.join("; "),
        claim,
        ...(model === null ? [] : [support ?? ""]),
      ];
      return `${columns.map(escapeLine).join("\t")}\n`;
    })
    .join("");
}

/** Formats the citations with a problem for people, worst first. With `isAll`, formats every citation, with its passage. */
export function formatCheckForPeople(
  { citations }: Pick<CheckOutcome, "citations">,
  style: Style,
  isAll = false,
): string {
  const shown = citations.filter((citation) => isAll || isProblemCitation(citation));
  shown.sort((a, b) => rankCitation(a) - rankCitation(b));
  return shown.map((citation) => `${formatCitation(citation, style, isAll)}\n`).join("");
}

function isProblemCitation({ verdict, support }: CheckedCitation): boolean {
  return support === "contradicted" || WRONG.has(verdict);
}

function rankCitation({ verdict, support }: CheckedCitation): number {
  return support === "contradicted" ? -1 : VERDICTS.indexOf(verdict);
}

function formatCitation(citation: CheckedCitation, style: Style, withPassage: boolean): string {
  const { verdict, claim, missing, reason, urls, support, quote, passage } = citation;
  const isContradicted = support === "contradicted";
  const paint = isProblemCitation(citation) ? style.bad : verdict === "found" ? style.good : style.dim;
  const why = missing.length > 0 ? `not on the page: ${missing.join("; ")}` : (reason ?? "");
  const quoted = isContradicted ? (quote ?? "") : undefined;
  const lines = [
    ...(quoted === undefined ? formatDimLines(style, why) : [`the page: ${escapeLine(quoted)}`]),
    ...(withPassage && passage !== null && passage !== quoted ? [`passage: ${escapeLine(passage)}`] : []),
    ...(withPassage && support && !isContradicted ? [`the model: ${support.replace("_", " ")}`] : []),
    ...urls.flatMap((url) => formatDimLines(style, url)),
  ];
  const head = `${paint(isContradicted ? support : verdict)}  ${escapeLine(claim)}`;
  return [head, ...lines].join("\n  ");
}

function formatDimLines(style: Style, text: string): string[] {
  return text === "" ? [] : [style.dim(escapeLine(text))];
}

/** Formats the counts as a sentence. The verdict `found` reads "has its figures on the page". */
export function formatCitationCounts(counts: Readonly<Record<string, number>>): string {
  const each = formatVerdictCounts(counts, counts.found === 1 ? FIGURES : FIGURES_OF_MANY);
  return `${formatCount(counts.citations ?? 0, "citation")}${each && `: ${each}`}`;
}

const FIGURES = "has its figures on the page";
const FIGURES_OF_MANY = "have their figures on the page";

/** Formats how many citations have each verdict and, with a model, each of its answers. `found`: the words for that verdict. */
export function formatVerdictCounts(counts: Readonly<Record<string, number>>, found = "found"): string {
  const chooseWord = (name: string) => (name === "found" ? found : name.replace("_", " "));
  const formatNames = (names: readonly string[]) =>
    names.flatMap((name) => (counts[name] ? `${counts[name]} ${chooseWord(name)}` : [])).join(", ");
  const support = formatNames(SUPPORTS);
  return `${formatNames(VERDICTS)}${support && `; the model: ${support}`}`;
}

/** Formats the counts, the number of sentences without a citation, and how many pages could be read. */
export function formatCheckCounts({ counts, pages }: Pick<CheckOutcome, "counts" | "pages">): string {
  const uncited = `${counts.uncited} ${counts.uncited === 1 ? "sentence cites" : "sentences cite"} nothing`;
  const read = pages.filter(({ state }) => state === "read").length;
  const { marks_without_source: marks, sources_not_cited: listed } = counts;
  const parts = [
    uncited,
    ...(marks ? [`${formatCount(marks, "mark")} without a source`] : []),
    ...(listed ? [`${formatCount(listed, "listed source")} not cited`] : []),
    ...(pages.length > 0 ? [`${read} of ${pages.length} pages could be read`] : []),
  ];
  return `${formatCitationCounts(counts)}; ${parts.join("; ")}`;
}

/** An address in a report, with the sentences that cite it. */
export interface CitedAddress {
  url: string;
  citations: { claim: string; field: string | null }[];
}

/** Formats each address with the sentences that cite it: indented below it for people, otherwise one line for each sentence. */
export function formatCitedAddresses(addresses: readonly CitedAddress[], isForPeople: boolean): string {
  return addresses
    .flatMap(({ url, citations }) => {
      const claims = citations.map(({ claim }) => escapeLine(claim));
      return isForPeople
        ? [escapeLine(url), ...claims.map((claim) => `  ${claim}`)]
        : claims.map((claim) => `${escapeLine(url.replace(/\s/g, "%20"))}\t${claim}`);
    })
    .map((line) => `${line}\n`)
    .join("");
}

export function formatCheckProgress({ done, of, hosts: [slow] }: CheckProgress): string {
  return escapeText(`${done} of ${of} pages read${slow ? `, waiting for ${slow}` : ""}`);
}

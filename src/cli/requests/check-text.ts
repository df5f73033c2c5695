import type { CheckProgress } from "../../app/check.js";
import {
  type CheckedCitation,
  type CheckOutcome,
  SUPPORTS,
  VERDICTS,
  type Verdict,
} from "../../core/protocol/check-outcome.js";
import { formatCount } from "../../core/text/phrases.js";
import { escapeLine, escapeText } from "../../core/text/safe-text.js";
import type { Style } from "../terminal/style.js";

const WRONG: ReadonlySet<Verdict> = new Set(["missing", "gone"]);

/** Every citation, a line each: verdict, addresses, what is missing, sentence, and with a model support. */
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

export function formatWrongLines({ citations }: Pick<CheckOutcome, "citations">, style: Style): string {
  const wrong = citations.filter(({ verdict, support }) => support === "contradicted" || WRONG.has(verdict));
  wrong.sort((a, b) => rankOf(a) - rankOf(b));
  return wrong.map((citation) => `${formatWrong(citation, style)}\n`).join("");
}

function rankOf({ verdict, support }: CheckedCitation): number {
  return support === "contradicted" ? -1 : VERDICTS.indexOf(verdict);
}

function formatWrong(citation: CheckedCitation, style: Style): string {
  const { verdict, claim, missing, reason, urls, support, quote } = citation;
  if (support === "contradicted") {
    const lines = urls.map((line) => `\n  ${style.dim(escapeLine(line))}`).join("");
    return `${style.bad(support)}  ${escapeLine(claim)}\n  the page: ${escapeLine(quote ?? "")}${lines}`;
  }
  const why = missing.length > 0 ? `not on the page: ${missing.join("; ")}` : (reason ?? "");
  const lines = [why, ...urls].filter(Boolean).map((line) => `\n  ${style.dim(escapeLine(line))}`);
  return `${style.bad(verdict)}  ${escapeLine(claim)}${lines.join("")}`;
}

export function formatCitationCounts(counts: Readonly<Record<string, number>>): string {
  const each = formatVerdicts(counts);
  return `${formatCount(counts.citations ?? 0, "citation")}${each && `: ${each}`}`;
}

/** How many citations have each verdict, and with a model each support, the worst first. */
export function formatVerdicts(counts: Readonly<Record<string, number>>): string {
  const textOf = (names: readonly string[]) =>
    names.flatMap((name) => (counts[name] ? `${counts[name]} ${name.replace("_", " ")}` : [])).join(", ");
  const support = textOf(SUPPORTS);
  return `${textOf(VERDICTS)}${support && `; the model: ${support}`}`;
}

/** The line of counts, what cites nothing, and how many pages could be read. */
export function formatCheckCounts({ counts, pages }: Pick<CheckOutcome, "counts" | "pages">): string {
  const uncited = `${counts.uncited} ${counts.uncited === 1 ? "sentence cites" : "sentences cite"} nothing`;
  const read = pages.filter(({ state }) => state === "read").length;
  const { marks_without_source: marks, sources_not_cited: listed } = counts;
  const unused = [
    // A check that was kept before these were counted has none.
    ...(marks ? [`${formatCount(marks, "mark")} without a source`] : []),
    ...(listed ? [`${formatCount(listed, "listed source")} not cited`] : []),
  ];
  const parts = [
    uncited,
    ...unused,
    ...(pages.length > 0 ? [`${read} of ${pages.length} pages could be read`] : []),
  ];
  return `${formatCitationCounts(counts)}; ${parts.join("; ")}`;
}

export function formatCheckProgress({ done, of, hosts: [slow] }: CheckProgress): string {
  return escapeText(`${done} of ${of} pages read${slow ? `, waiting for ${slow}` : ""}`);
}

import type { CheckProgress } from "../../app/check.js";
import {
  type CheckedCitation,
  type CheckOutcome,
  VERDICTS,
  type Verdict,
} from "../../core/protocol/check-outcome.js";
import { counted } from "../../core/text/phrases.js";
import { safe, safeLine } from "../../core/text/safe-text.js";
import type { Style } from "../terminal/style.js";

const WRONG: ReadonlySet<Verdict> = new Set(["missing", "gone"]);

/** Every citation, a line each: verdict, addresses, what is missing, sentence. */
export function citationLines({ citations }: Pick<CheckOutcome, "citations">): string {
  return citations
    .map(({ verdict, urls, missing, claim }) => {
      const addresses = urls.map((url) => url.replace(/\s/g, "%20")).join(" ");
      return `${[verdict, addresses, missing.join("; "), claim].map(safeLine).join("\t")}\n`;
    })
    .join("");
}

export function wrongLines({ citations }: Pick<CheckOutcome, "citations">, style: Style): string {
  const wrong = citations.filter(({ verdict }) => WRONG.has(verdict));
  wrong.sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));
  return wrong.map((one) => `${wrongText(one, style)}\n`).join("");
}

function wrongText({ verdict, claim, missing, reason, urls }: CheckedCitation, style: Style): string {
  const why = missing.length > 0 ? `not on the page: ${missing.join("; ")}` : (reason ?? "");
  const lines = [why, ...urls].filter(Boolean).map((line) => `\n  ${style.dim(safeLine(line))}`);
  return `${style.bad(verdict)}  ${safeLine(claim)}${lines.join("")}`;
}

export function citationsText(counts: Readonly<Record<string, number>>): string {
  const each = verdictsText(counts);
  return `${counted(counts.citations ?? 0, "citation")}${each && `: ${each}`}`;
}

/** How many citations have each verdict, the worst first. */
export function verdictsText(counts: Readonly<Record<string, number>>): string {
  return VERDICTS.flatMap((verdict) => (counts[verdict] ? `${counts[verdict]} ${verdict}` : [])).join(", ");
}

/** The line of counts, what cites nothing, and how many pages could be read. */
export function countsText({ counts, pages }: Pick<CheckOutcome, "counts" | "pages">): string {
  const uncited = `${counts.uncited} ${counts.uncited === 1 ? "sentence cites" : "sentences cite"} nothing`;
  const read = pages.filter(({ state }) => state === "read").length;
  const { marks_without_source: marks, sources_not_cited: listed } = counts;
  const unused = [
    // A check that was kept before these were counted has none.
    ...(marks ? [`${counted(marks, "mark")} without a source`] : []),
    ...(listed ? [`${counted(listed, "listed source")} not cited`] : []),
  ];
  const parts = [
    uncited,
    ...unused,
    ...(pages.length > 0 ? [`${read} of ${pages.length} pages could be read`] : []),
  ];
  return `${citationsText(counts)}; ${parts.join("; ")}`;
}

export function progressText({ done, of, hosts: [slow] }: CheckProgress): string {
  return safe(`${done} of ${of} pages read${slow ? `, waiting for ${slow}` : ""}`);
}

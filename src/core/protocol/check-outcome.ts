/** The verdict on a sentence and the pages that it cites (contract §11). */
export type Verdict = "found" | "missing" | "unchecked" | "gone" | "unreadable";

/** A model's judgement of a sentence and the page that it cites, if a quote proves it. */
export type Support = "supported" | "contradicted" | "not_stated";

/** All verdicts, the worst first. */
export const VERDICTS: readonly Verdict[] = ["missing", "gone", "unreadable", "unchecked", "found"];
export const SUPPORTS: readonly Support[] = ["contradicted", "not_stated", "supported"];

export interface CheckedCitation {
  claim: string;
  field: string | null;
  urls: string[];
  verdict: Verdict;
  missing: string[];
  reason: string | null;
  passage: string | null;
  /** Null without a model, and if no quote proves the model's answer. */
  support: Support | null;
  /** The words of the page that prove the support. */
  quote: string | null;
}

export interface CheckedPage {
  url: string;
  /** The address after redirects. */
  final_url: string | null;
  state: "read" | "gone" | "unreadable";
  http_status: number | null;
  reason: string | null;
  title: string | null;
  /** ISO 8601 */
  read_at: string | null;
  /** The digest of the page's text. */
  sha256: string | null;
}

export interface Checked {
  /** ISO 8601 */
  checked_at: string;
  /** Whether every address was tried; false if a limit or a signal ended the check before. */
  complete: boolean;
  citations: CheckedCitation[];
  pages: CheckedPage[];
  counts: Record<
    Verdict | Support | "citations" | "uncited" | "marks_without_source" | "sources_not_cited",
    number
  >;
  /** Metrics with their names in the literature (docs/check.md); null if there is nothing to count, or no model. */
  metrics: {
    /** The share of the requested pages that could be read. */
    links_work: number | null;
    /** The share of the sentences with a citation, among those that could have one. */
    citation_coverage: number | null;
    /** The share of the judged citations that are supported; `effective_citations` is their number. */
    citation_accuracy: number | null;
    effective_citations: number | null;
  };
}

/** Counts the verdicts and supports of citations, and computes what a model's answers add to the metrics. */
export function countCitations(citations: readonly CheckedCitation[]) {
  const verdicts = { found: 0, missing: 0, unchecked: 0, gone: 0, unreadable: 0 };
  const counts = { ...verdicts, supported: 0, contradicted: 0, not_stated: 0 };
  for (const { verdict, support } of citations) {
    counts[verdict] += 1;
    if (support) counts[support] += 1;
  }
  const judged = counts.supported + counts.contradicted + counts.not_stated;
  const metrics = {
    citation_accuracy: judged === 0 ? null : counts.supported / judged,
    effective_citations: judged === 0 ? null : counts.supported,
  };
  return { counts, metrics };
}

export interface CheckOutcome extends Checked {
  request_id: string | null;
  file: string | null;
  /** The model that judged the citations; null without a model. */
  model: string | null;
}

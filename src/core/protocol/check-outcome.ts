/** The verdict on a sentence with the pages that it cites (contract §11). */
export type Verdict = "found" | "missing" | "unchecked" | "gone" | "unreadable";

/** What a model judged about a sentence and the page that it cites; counts only if a quote proves it. */
export type Support = "supported" | "contradicted" | "not_stated";

/** All verdicts and judgements, the worst first. */
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
  /** Null without a model, or if no quote proves the model's answer. */
  support: Support | null;
  /** The words of the page that prove the model's answer. */
  quote: string | null;
}

export interface CheckedPage {
  url: string;
  /** The address after redirects; null if there was no answer. */
  final_url: string | null;
  state: "read" | "gone" | "unreadable";
  http_status: number | null;
  reason: string | null;
  title: string | null;
  /** When the page was read, ISO 8601. */
  read_at: string | null;
  /** The digest of the page's text, 64 hexadecimal digits. */
  sha256: string | null;
}

export interface Checked {
  /** When the check was completed, ISO 8601. */
  checked_at: string;
  /** Whether every address was tried; false if a limit or a signal ended the check early. */
  complete: boolean;
  citations: CheckedCitation[];
  pages: CheckedPage[];
  counts: Record<
    Verdict | Support | "citations" | "uncited" | "marks_without_source" | "sources_not_cited",
    number
  >;
  /** Metrics, named as in the literature (docs/check.md). A metric is null if there is nothing to count, or without a model. */
  metrics: {
    /** The share of the requested pages that could be read. */
    links_work: number | null;
    /** The share of sentences with a citation among the sentences that could have one. */
    citation_coverage: number | null;
    /** The share of judged citations that are supported. `effective_citations` is the number of supported ones. */
    citation_accuracy: number | null;
    effective_citations: number | null;
  };
}

/** Counts the verdicts and judgements of citations, and computes the metrics that depend on a model. */
export function countVerdicts(citations: readonly CheckedCitation[]) {
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

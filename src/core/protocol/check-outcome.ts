/** What is said of a sentence and the pages that it cites (contract §11). */
export type Verdict = "found" | "missing" | "unchecked" | "gone" | "unreadable";

/** What a model says of a sentence and the page that it cites, if that is proven. */
export type Support = "supported" | "contradicted" | "not_stated";

/** The worst first. */
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
  /** Null without a model, and if no answer of it is proven. */
  support: Support | null;
  /** What proves the support, as it stands on the page. */
  quote: string | null;
}

export interface CheckedPage {
  url: string;
  /** Where it was in the end. */
  final_url: string | null;
  state: "read" | "gone" | "unreadable";
  http_status: number | null;
  reason: string | null;
  title: string | null;
  /** ISO 8601 */
  read_at: string | null;
  /** Of its text. */
  sha256: string | null;
}

export interface Checked {
  /** ISO 8601 */
  checked_at: string;
  /** Whether every address was tried: no limit and no signal came before. */
  complete: boolean;
  citations: CheckedCitation[];
  pages: CheckedPage[];
  counts: Record<
    Verdict | Support | "citations" | "uncited" | "marks_without_source" | "sources_not_cited",
    number
  >;
  /** In the words of the literature (docs/check.md); null if there is nothing to count, or no model. */
  metrics: {
    /** The share of the pages asked for that were read. */
    links_work: number | null;
    /** The share of the sentences that could cite something that do. */
    citation_coverage: number | null;
    /** The share of the judged citations that are supported, and their number. */
    citation_accuracy: number | null;
    effective_citations: number | null;
  };
}

export interface CheckOutcome extends Checked {
  request_id: string | null;
  file: string | null;
  /** The name of the model that was asked about the citations. */
  model: string | null;
}

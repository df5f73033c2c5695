/** What is said of a sentence and the pages that it cites (contract §11). */
export type Verdict = "found" | "missing" | "unchecked" | "gone" | "unreadable";

/** The worst first. */
export const VERDICTS: readonly Verdict[] = ["missing", "gone", "unreadable", "unchecked", "found"];

export interface CheckedCitation {
  claim: string;
  field: string | null;
  urls: string[];
  verdict: Verdict;
  missing: string[];
  reason: string | null;
  passage: string | null;
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
  counts: Record<Verdict | "citations" | "uncited" | "marks_without_source" | "sources_not_cited", number>;
}

export interface CheckOutcome extends Checked {
  request_id: string | null;
  file: string | null;
}

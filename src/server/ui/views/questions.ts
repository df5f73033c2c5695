import { short } from "../../../markdown/html/batch-pages.js";
import type { Overview } from "../../conversations/overview.js";

/** Questions that are remembered: a job may be a megabyte, and is read for each row of a list. */
const MOST_KEPT = 1_000;

/** What conversations ask, on one line each; null for what was not kept. */
export class Questions {
  readonly #kept = new Map<string, string | null>();
  constructor(private readonly overview: Pick<Overview, "job">) {}

  async of(requestId: string): Promise<string | null> {
    const kept = this.#kept.get(requestId);
    if (kept !== undefined) return kept;
    const job = await this.overview.job(requestId);
    const question = job === undefined ? null : short(job.prompt);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(requestId, question);
    return question;
  }
}

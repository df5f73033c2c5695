import { exactJson, parseExactAt } from "../../../json/exact-json.js";
import type { ResearchJob } from "../../researchers/researcher.js";
import { type Outcome, StoreUnavailableError } from "../conversation-store.js";
import type { LocalExchanges } from "./exchange-files.js";
import type { Journal } from "./journal/journal.js";
import type { Row } from "./local-state.js";
import type { Outputs } from "./outputs.js";

/**
 * What a row does not hold: the job of a conversation, which is in the journal until it ends, its output and its
 * exchanges.
 */
export class Contents {
  constructor(
    private readonly journal: Journal,
    private readonly outputs: Outputs,
    /** JSON of the jobs of ended conversations, for those who look at them later. */
    private readonly endedJobs: Outputs,
    /** What their outcomes say beside the output. */
    private readonly outcomeData: Outputs,
    readonly exchanges: LocalExchanges,
  ) {}

  /** Undefined for a conversation that has ended. */
  async jobOf({ line }: Row): Promise<ResearchJob | undefined> {
    const entry = line && (await this.journal.read(line));
    return entry?.kind === "created" ? entry.job : undefined;
  }

  /** Keeps the job of a conversation that is about to end. Never rejects: the end matters more than its prompt. */
  async keepJob(row: Row): Promise<void> {
    try {
      const job = await this.jobOf(row);
      if (job !== undefined) await this.endedJobs.write(row.requestId, exactJson(job));
    } catch {}
  }

  /** Undefined if it was not kept. */
  async endedJobOf({ requestId }: Row): Promise<ResearchJob | undefined> {
    try {
      return parseExactAt(await this.endedJobs.read(requestId), "output_schema") as ResearchJob;
    } catch {
      return undefined;
    }
  }

  /** The JSON text of a COMPLETED conversation's output. */
  async outputOf({ requestId, line }: Row): Promise<string> {
    if (line === undefined) return this.outputs.read(requestId);
    const entry = await this.journal.read(line);
    return JSON.stringify("output" in entry ? entry.output : null);
  }

  /** Nothing if nothing was kept. */
  async dataOf({ requestId }: Row): Promise<{ data?: string }> {
    return this.outcomeData.read(requestId).then(
      (data) => ({ data }),
      () => ({}),
    );
  }

  /** Rejects with a StoreUnavailableError. */
  async write(requestId: string, outcome: Outcome): Promise<void> {
    try {
      if (outcome.data !== undefined) await this.outcomeData.write(requestId, outcome.data);
      if (outcome.status === "COMPLETED") await this.outputs.write(requestId, outcome.output);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : cause;
      throw new StoreUnavailableError(`The output could not be written: ${why}`, { cause });
    }
  }

  /** Everything of a conversation. */
  async delete(requestId: string): Promise<void> {
    await this.exchanges.delete(requestId);
    await this.endedJobs.delete(requestId);
    await this.deleteOutput(requestId);
  }

  async deleteOutput(requestId: string): Promise<void> {
    await this.outcomeData.delete(requestId);
    await this.outputs.delete(requestId);
  }
}

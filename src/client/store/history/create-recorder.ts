import { catchLocalError, wrapFileErrors } from "../../../core/files/local-error.js";
import type { Data } from "../../../core/protocol/conversation.js";
import type { AppendLog } from "./append-log.js";
import { type HistoryLine, type Intent, RESOLVED, UNKNOWN } from "./history-records.js";
import { buildCreatedRecord, type CreateOutcome, type OpenIntents } from "./open-intents.js";

/** Records a create call in the history, from its intent to its outcome. */
export class CreateRecorder {
  /** `date` returns the current time in ISO 8601. */
  constructor(
    private readonly intent: Intent,
    private readonly open: OpenIntents,
    private readonly log: AppendLog,
    /** Removes the result and check kept under an id of this service. Throws LocalError. */
    private readonly forgetKept: (requestId: string) => void,
    private readonly date: () => string,
  ) {}

  get localId(): string {
    return this.intent.local_id;
  }

  /** Records an id from an answer that may be an error. Throws LocalError if the id cannot be stored. */
  recordSalvaged(requestId: string): void {
    const at = this.date();
    this.#note({ request_id: requestId, confirmed: false, status: UNKNOWN, created_at: null, at });
  }

  /** Records that the request exists. Throws LocalError if that cannot be stored. */
  recordCreated(requestId: string, data: Data): void {
    const outcome: CreateOutcome = {
      request_id: requestId,
      confirmed: true,
      status: typeof data.status === "string" ? data.status : "PENDING",
      created_at: typeof data.created_at === "string" ? data.created_at : null,
      ...(typeof data.interaction_id === "string" && { interaction_id: data.interaction_id }),
      at: this.date(),
    };
    // A result kept under this id belongs to an earlier request, of a service that restarts its ids.
    catchLocalError(() => this.forgetKept(requestId));
    // If the disk is full, write the outcome into the space reserved beside the intent, which then stays.
    if (this.#appendLine(buildCreatedRecord(this.intent, outcome), true)) this.open.remove(this.localId);
    else this.#note(outcome);
  }

  /** Records that the user settled the create call as not created. The log keeps the intent. Throws LocalError if that fails. */
  recordNotCreated(): void {
    const record = { ...this.intent, kind: "not-created", at: this.date() } as const;
    wrapFileErrors(`it could not be recorded that ${this.localId} was not created`, () =>
      this.log.append(record, { sync: true }),
    );
    this.open.remove(this.localId);
  }

  /** Records that nothing was created. `code`: why the service refused the create call, which it may have counted. */
  recordDismissed(code?: string): void {
    if (code !== undefined) this.#logDismissed(code);
    // If the intent cannot be removed, it would read as an unknown outcome, so the log must have the outcome.
    if (!this.open.remove(this.localId) && code === undefined) this.#logDismissed(RESOLVED);
  }

  /** Records that this process no longer waits for the outcome. The intent stays as an unknown outcome. */
  recordGivenUp(): void {
    try {
      this.open.recordGivenUp(this.intent);
    } catch {
      // The create call seems to be under way until this process ends.
    }
  }

  #logDismissed(code: string): void {
    const { local_id, origin, key_id } = this.intent;
    // If this fails, the count of the hour lacks a refused create call, so one create call too many may be sent.
    this.#appendLine({ kind: "dismissed", local_id, origin, key_id, at: this.date(), code }, false);
  }

  #appendLine(line: HistoryLine, sync: boolean): boolean {
    try {
      this.log.append(line, { sync });
      return true;
    } catch {
      return false;
    }
  }

  #note(outcome: CreateOutcome): void {
    wrapFileErrors(`the request id ${outcome.request_id} could not be recorded`, () =>
      this.open.note(this.intent, outcome),
    );
  }
}

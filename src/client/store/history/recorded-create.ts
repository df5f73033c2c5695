import { catchLocalError, runLocally } from "../../../core/files/local-error.js";
import type { Data } from "../../../core/protocol/conversation.js";
import type { AppendLog } from "./log.js";
import { buildCreatedRecord, type CreateOutcome, type OpenIntents } from "./open-intents.js";
import { type HistoryLine, type Intent, RESOLVED, UNKNOWN } from "./records.js";

/** A create on its way through the history, from the intent on the disk to an outcome. */
export class RecordedCreate {
  /** `date` gives now in ISO 8601. */
  constructor(
    private readonly intent: Intent,
    private readonly open: OpenIntents,
    private readonly log: AppendLog,
    /** Removes what is kept under an id of this service. Throws LocalError. */
    private readonly forgetKept: (requestId: string) => void,
    private readonly date: () => string,
  ) {}

  get localId(): string {
    return this.intent.local_id;
  }

  /** An id was seen in an answer that may be no success. Throws LocalError if it cannot be kept. */
  recordSalvaged(requestId: string): void {
    const at = this.date();
    this.#note({ request_id: requestId, confirmed: false, status: UNKNOWN, created_at: null, at });
  }

  /** The request exists. Throws LocalError if that cannot be kept. */
  recordCreated(requestId: string, data: Data): void {
    const outcome: CreateOutcome = {
      request_id: requestId,
      confirmed: true,
      status: typeof data.status === "string" ? data.status : "PENDING",
      created_at: typeof data.created_at === "string" ? data.created_at : null,
      ...(typeof data.interaction_id === "string" && { interaction_id: data.interaction_id }),
      at: this.date(),
    };
    // A result that is kept under this id is that of another request, of a service that counts its ids anew.
    catchLocalError(() => this.forgetKept(requestId));
    // Without room for another line there is still the room beside the intent, and then that stays.
    if (this.#appendLine(buildCreatedRecord(this.intent, outcome), true)) this.open.remove(this.localId);
    else this.#note(outcome);
  }

  /** Its user says that nothing was created. The intent stays in the log. Throws LocalError if that cannot be kept. */
  recordNotCreated(): void {
    const record = { ...this.intent, kind: "not-created", at: this.date() } as const;
    runLocally(`it could not be recorded that ${this.localId} was not created`, () =>
      this.log.append(record, { sync: true }),
    );
    this.open.remove(this.localId);
  }

  /** Nothing was created. With `code`, the service said so and may have counted it. */
  recordDismissed(code?: string): void {
    if (code !== undefined) this.#logDismissed(code);
    // An intent that cannot be removed would read as an unknown outcome, unless the log says otherwise.
    if (!this.open.remove(this.localId) && code === undefined) this.#logDismissed(RESOLVED);
  }

  /** This process waits for the outcome no longer. The intent stays, as an unknown outcome. */
  recordGivenUp(): void {
    try {
      this.open.recordGivenUp(this.intent);
    } catch {
      // It reads as under way until this process ends.
    }
  }

  #logDismissed(code: string): void {
    const { local_id, origin, key_id } = this.intent;
    // If that fails, only the count of the hour suffers, on the side of one create too many.
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
    runLocally(`the request id ${outcome.request_id} could not be recorded`, () =>
      this.open.note(this.intent, outcome),
    );
  }
}

import { catchLocalError, runLocally } from "../../../core/files/local-error.js";
import type { Data } from "../../../core/protocol/conversation.js";
import type { AppendLog } from "./log.js";
import { buildCreatedRecord, type CreateOutcome, type OpenIntents } from "./open-intents.js";
import { type HistoryLine, type Intent, RESOLVED, UNKNOWN } from "./records.js";

/** Records a create in the history, from its intent to its outcome. */
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

  /** Records an id from a response that may be an error. Throws LocalError if it cannot be kept. */
  recordSalvaged(requestId: string): void {
    const at = this.date();
    this.#note({ request_id: requestId, confirmed: false, status: UNKNOWN, created_at: null, at });
  }

  /** Records that the request exists. Throws LocalError if that cannot be kept. */
  recordCreated(requestId: string, data: Data): void {
    const outcome: CreateOutcome = {
      request_id: requestId,
      confirmed: true,
      status: typeof data.status === "string" ? data.status : "PENDING",
      created_at: typeof data.created_at === "string" ? data.created_at : null,
      ...(typeof data.interaction_id === "string" && { interaction_id: data.interaction_id }),
      at: this.date(),
    };
    // A kept result under this id belongs to an earlier request, of a service that restarts its ids.
    catchLocalError(() => this.forgetKept(requestId));
    // If the disk is full, the outcome goes into the reserved space beside the intent, which then stays.
    if (this.#appendLine(buildCreatedRecord(this.intent, outcome), true)) this.open.remove(this.localId);
    else this.#note(outcome);
  }

  /** Records that the user dismissed the create. The intent stays in the log. Throws LocalError if that cannot be kept. */
  recordNotCreated(): void {
    const record = { ...this.intent, kind: "not-created", at: this.date() } as const;
    runLocally(`it could not be recorded that ${this.localId} was not created`, () =>
      this.log.append(record, { sync: true }),
    );
    this.open.remove(this.localId);
  }

  /** Records that nothing was created. With `code`, the service refused it and may have counted it. */
  recordDismissed(code?: string): void {
    if (code !== undefined) this.#logDismissed(code);
    // An intent that cannot be removed would read as an unknown outcome, unless the log says otherwise.
    if (!this.open.remove(this.localId) && code === undefined) this.#logDismissed(RESOLVED);
  }

  /** Records that this process stopped waiting for the outcome. The intent stays, as an unknown outcome. */
  recordGivenUp(): void {
    try {
      this.open.recordGivenUp(this.intent);
    } catch {
      // It reads as under way until this process ends.
    }
  }

  #logDismissed(code: string): void {
    const { local_id, origin, key_id } = this.intent;
    // If that fails, the hour misses a refused create, so one create too many may be sent.
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

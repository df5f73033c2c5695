import type { Data } from "../../protocol/conversation.js";
import { inWords, LocalError } from "../errors.js";
import type { AppendLog } from "./append-log.js";
import { type CreateOutcome, createdRecord, type OpenIntents } from "./open-intents.js";
import { type Intent, RESOLVED, UNKNOWN } from "./records.js";

/** A create on its way through the history, from the intent on the disk to an outcome. */
export class RecordedCreate {
  readonly #intent: Intent;
  readonly #open: OpenIntents;
  readonly #log: AppendLog;
  readonly #date: () => string;

  /** `date` gives now in ISO 8601. */
  constructor(intent: Intent, open: OpenIntents, log: AppendLog, date: () => string) {
    this.#intent = intent;
    this.#open = open;
    this.#log = log;
    this.#date = date;
  }

  get localId(): string {
    return this.#intent.local_id;
  }

  /** An id was seen in an answer that may be no success. Throws LocalError if it cannot be kept. */
  salvaged(requestId: string): void {
    this.#note({
      request_id: requestId,
      confirmed: false,
      status: UNKNOWN,
      created_at: null,
      at: this.#date(),
    });
  }

  /** The request exists. Throws LocalError if that cannot be kept. */
  created(requestId: string, data: Data): void {
    const outcome: CreateOutcome = {
      request_id: requestId,
      confirmed: true,
      status: typeof data.status === "string" ? data.status : "PENDING",
      created_at: typeof data.created_at === "string" ? data.created_at : null,
      ...(typeof data.interaction_id === "string" && { interaction_id: data.interaction_id }),
      at: this.#date(),
    };
    // Without room for another line there is still the room beside the intent, and then that stays.
    if (this.#logged(outcome)) this.#open.remove(this.localId);
    else this.#note(outcome);
  }

  /** Its user says that nothing was created. The intent stays in the log. Throws LocalError if that cannot be kept. */
  notCreated(): void {
    const record = { ...this.#intent, kind: "not-created", at: this.#date() } as const;
    try {
      this.#log.append(record, { sync: true });
    } catch (error) {
      throw new LocalError(
        `it could not be recorded that ${this.localId} was not created: ${inWords(error)}`,
        {
          cause: error,
        },
      );
    }
    this.#open.remove(this.localId);
  }

  /** Nothing was created. With `code`, the service said so and may have counted it. */
  dismissed(code?: string): void {
    if (code !== undefined) this.#logDismissed(code);
    // An intent that cannot be removed would read as an unknown outcome, unless the log says otherwise.
    if (!this.#open.remove(this.localId) && code === undefined) this.#logDismissed(RESOLVED);
  }

  /** This process waits for the outcome no longer. The intent stays, as an unknown outcome. */
  givenUp(): void {
    try {
      this.#open.giveUp(this.#intent);
    } catch {
      // It reads as under way until this process ends.
    }
  }

  #logDismissed(code: string): void {
    const { local_id, origin, key_id } = this.#intent;
    try {
      this.#log.append(
        { kind: "dismissed", local_id, origin, key_id, at: this.#date(), code },
        { sync: false },
      );
    } catch {
      // Only the count of the hour suffers, and it suffers on the side of one create too many.
    }
  }

  #logged(outcome: CreateOutcome): boolean {
    try {
      this.#log.append(createdRecord(this.#intent, outcome), { sync: true });
      return true;
    } catch {
      return false;
    }
  }

  #note(outcome: CreateOutcome): void {
    try {
      this.#open.note(this.#intent, outcome);
    } catch (error) {
      throw new LocalError(`the request id ${outcome.request_id} could not be recorded: ${inWords(error)}`, {
        cause: error,
      });
    }
  }
}

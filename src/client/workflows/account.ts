import type { Clock } from "../../core/clock.js";
import type { ResearchClient } from "../calls/client.js";
import type { ResearchError } from "../calls/errors.js";
import type { Provider } from "../dialects/providers.js";
import type { History } from "../store/history/history.js";
import type { HistoryEntry, Seen } from "../store/history/records.js";

/** The account and the resources that workflows need. Costly or optional parts are getters; each function declares the parts it uses. */
export interface Account {
  readonly client: Pick<
    ResearchClient,
    "create" | "check" | "status" | "stop" | "output" | "createNoOutputError" | "watch"
  >;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The path of its base URL, without a slash at its end. */
  readonly basePath?: string | undefined;
  /** The key in force: creates per hour are counted for it. Only its digest is kept. */
  readonly apiKey: string;
  /** The name of the settings in force, kept with each create; null if they have no name. */
  readonly profile: string | null;
  /** The history of this machine's creates; undefined if no history is kept. */
  readonly history: History | undefined;
  /** How many creates this key may make in 24 hours, and the source of that limit; undefined without a limit. */
  readonly perDay?: { value: number; source: string } | undefined;
  /** Whether a create may be sent without a record. If false and there is no history, a create is refused. */
  readonly unrecorded: boolean;
  /** §4.4: the field of an output's `data` that holds the result, if it is there. */
  readonly outputField: string;
  readonly clock: Clock;
  /** Undefined if the service speaks the interface itself. */
  readonly provider?:
    | Pick<Provider, "name" | "title" | "defaultModel" | "defaultOptions" | "followUpField" | "guessesWaits">
    | undefined;
  /** Whether a create went to the service in use; always true if no service is configured. Default: compares the origins. */
  isHere?(entry: HistoryEntry): boolean;
  /** Whether a create was sent for the account in use; always true if no account is configured. Default: compares the origins. */
  isOwn?(entry: HistoryEntry): boolean;
  /** Returns the account to use for a request instead of the one in use: the recorded one, or one whose calls all fail with the reason. */
  chooseAccount?(requestId: string, entry: HistoryEntry | undefined): Account | undefined;
  /** Explains why the account in use must not be asked about a request; undefined if it may be. */
  explainRefusal?(requestId: string, entry: HistoryEntry | undefined): ResearchError | undefined;
  /** Says how to reach the account that created a request. */
  describeWay?(entry: Seen): string;
}

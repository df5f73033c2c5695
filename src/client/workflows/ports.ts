import type { Clock } from "../../core/clock.js";
import type { ResearchClient } from "../calls/client.js";
import type { ResearchError } from "../calls/errors.js";
import type { Provider } from "../dialects/providers.js";
import type { History } from "../store/history/history.js";
import type { HistoryEntry, Seen } from "../store/history/records.js";

/** What the workflows work with. What is costly or may be missing is a getter; each function asks for what it uses. */
export interface Ports {
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
  /** What this machine created; undefined if nothing is recorded. */
  readonly history: History | undefined;
  /** How many creates this key may make in 24 hours, and what says so; undefined without such a limit. */
  readonly perDay?: { value: number; source: string } | undefined;
  /** Whether a create may be sent without a record. If false and there is no history, a create is refused. */
  readonly unrecorded: boolean;
  /** §4.4: the field of an output's `data` that holds the result, if it is there. */
  readonly outputField: string;
  readonly clock: Clock;
  /** Undefined where the service is the interface itself. */
  readonly provider?:
    | Pick<Provider, "name" | "title" | "defaultModel" | "defaultOptions" | "followUpField" | "guessesWaits">
    | undefined;
  /** Whether a create went to the service in use; true of all where none is configured. Default: by the origin. */
  isHere?(entry: HistoryEntry): boolean;
  /** Whether a create was asked of the account in use; true of all where none is configured. Default: by the origin. */
  isOwn?(entry: HistoryEntry): boolean;
  /** The account that is asked for a request in place of the one in use: the one recorded with it, or one that refuses. */
  chooseAccount?(requestId: string, entry: HistoryEntry | undefined): Ports | undefined;
  /** Why a request is not asked for at the account in use; undefined if it is. */
  explainRefusal?(requestId: string, entry: HistoryEntry | undefined): ResearchError | undefined;
  /** What to do to ask for a request at the account that made it. */
  describeWay?(entry: Seen): string;
}

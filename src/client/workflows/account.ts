import type { Clock } from "../../core/clock.js";
import type { ResearchError } from "../calls/errors.js";
import type { ResearchClient } from "../calls/research-client.js";
import type { Provider } from "../dialects/providers.js";
import type { History } from "../store/history/history.js";
import type { HistoryEntry, StateSubject } from "../store/history/history-records.js";

/** An account of a service, with the resources that workflows need. Costly or optional parts are getters. */
export interface Account {
  readonly client: Pick<
    ResearchClient,
    "create" | "check" | "status" | "stop" | "output" | "createNoOutputError" | "watch"
  >;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The path of the service's base URL, without a slash at its end. */
  readonly basePath?: string | undefined;
  /** The key in use, for which the create calls of an hour are counted. The history stores only its digest. */
  readonly apiKey: string;
  /** The name of the profile in use, which the history stores with each create call; null if it has no name. */
  readonly profile: string | null;
  /** The history of this machine's create calls; undefined if no history is kept. */
  readonly history: History | undefined;
  /** How many create calls this key may make in 24 hours, and the source of that limit; undefined if there is no limit. */
  readonly perDay?: { value: number; source: string } | undefined;
  /** Whether a create call may be sent without a record. Otherwise a create call without a history is refused. */
  readonly unrecorded: boolean;
  /** The field of an output's `data` that contains the result, if it is there (§4.4). */
  readonly outputField: string;
  readonly clock: Clock;
  /** The provider; undefined if the service has the research interface. */
  readonly provider?: Provider | undefined;
  /** Returns whether a create call went to the service in use; always true without a configured service. Default: compares the origins. */
  isHere?(entry: HistoryEntry): boolean;
  /** Returns whether a create call belongs to the account in use; always true without a configured account. Default: compares the origins. */
  isOwn?(entry: HistoryEntry): boolean;
  /** Returns the account to use for a request instead of this one: the recorded one, or one whose calls all fail with the reason. Undefined for this one. */
  chooseAccount?(requestId: string, entry: HistoryEntry | undefined): Account | undefined;
  /** Explains why this account must not be asked about a request; undefined if it may be asked. */
  explainRefusal?(requestId: string, entry: HistoryEntry | undefined): ResearchError | undefined;
  /** Describes how to reach the account that created a request. */
  describeWay?(entry: StateSubject): string;
}

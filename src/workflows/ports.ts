import type { ResearchClient } from "../client/client.js";
import type { Clock } from "../clock.js";
import type { Provider } from "../dialects/providers.js";
import type { History } from "../store/history/history.js";

/**
 * What the workflows work with. A front end makes it once; a member that is costly, or that may be missing for a
 * command that does not need it, is a getter. Each function asks for the members it uses.
 */
export interface Ports {
  readonly client: Pick<ResearchClient, "create" | "check" | "status" | "stop" | "output" | "watch">;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The key in force: creates per hour are counted for it. Only its digest is kept. */
  readonly apiKey: string;
  /** The name of the settings in force, kept with each create; null if they have no name. */
  readonly profile: string | null;
  /** What this machine created; undefined if nothing is recorded. */
  readonly history: History | undefined;
  /** Whether a create may be sent without a record. If false and there is no history, a create is refused. */
  readonly unrecorded: boolean;
  /** §4.4: the field of an output's `data` that holds the result, if it is there. */
  readonly outputField: string;
  readonly clock: Clock;
  /** Undefined where the service is the interface itself. */
  readonly provider?: Pick<Provider, "name" | "title" | "defaultModel" | "followUpField"> | undefined;
}

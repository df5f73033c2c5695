import type { Host } from "./host.js";
import type { Reporter } from "./reporter.js";

/** Where a command speaks to its user, and hears that it should end. */
export interface Terminal {
  readonly host: Host;
  readonly reporter: Reporter;
  /** Aborted with an Interrupted when the first signal comes. */
  readonly signal: AbortSignal;
}

import type { Clock } from "../../clock.js";
import type { Classification } from "../classify-response.js";
import type { Pace } from "./poll-interval.js";

/** What a watch needs of the world: time, jitter, and a way to ask for the state of one id. */
export interface WatchPorts {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  pace: Pace;
  /** Never throws; `timeout` is in milliseconds. */
  poll: (requestId: string, limits: { signal: AbortSignal; timeout: number }) => Promise<Classification>;
}

import { hazardPace } from "../client/watch/learned-interval.js";
import type { Pace } from "../client/watch/poll-interval.js";
import type { Context } from "./context.js";

/** How many of the newest finished runs are looked at: what a service took long ago says little about today. */
const RUNS = 200;

/** A pace by how long past runs at the origin in force took; nothing where too few are known. */
export function learntPace(ctx: Context): { pace?: Pace } {
  const pace = hazardPace(ctx.history?.durations(ctx.client.origin, RUNS) ?? []);
  return pace ? { pace } : {};
}

import type { Forecast, Outlook } from "../commands/batch/view.js";
import type { Context } from "../context.js";
import { Board, type Counts } from "./board.js";
import type { Pacer } from "./pacer.js";
import type { RowState } from "./plan.js";

/** So many of the last runs say how long one takes. */
const RUNS = 30;

/** How long a run takes at `origin`, in milliseconds: the median of those this machine has seen; undefined without any. */
export function typicalMs({ history }: Context, origin: string): number | undefined {
  const durations = history?.durations(origin, RUNS).sort((a, b) => a - b) ?? [];
  return durations[Math.floor(durations.length / 2)];
}

/** What a batch would do, and how long it would take. */
export function forecast(
  ctx: Context,
  states: readonly RowState[],
  pacer: Pacer,
  origin: string | undefined,
): Forecast {
  const { counts } = new Board(states);
  const now = ctx.host.clock.now();
  const isKnown = pacer.limit !== undefined && counts.waiting > 0;
  const lastSentAt = isKnown ? (pacer.times(counts.waiting).at(-1) ?? now) : null;
  const usual = origin === undefined ? undefined : typicalMs(ctx, origin);
  const limit = pacer.limit === Number.POSITIVE_INFINITY ? null : (pacer.limit ?? null);
  const endsAt = lastSentAt === null || usual === undefined ? null : lastSentAt + usual;
  return { counts, limit: limit === null ? null : Math.min(limit, pacer.share), now, lastSentAt, endsAt };
}

/** What is known of the hours ahead while a batch runs; `usualMs` is how long a run takes, `now` epoch ms. */
export function outlook(counts: Counts, pacer: Pacer, usualMs: number | undefined, now: number): Outlook {
  const { waiting, running } = counts;
  const { left, nextAt } = pacer.outlook() ?? {};
  const isKnown = waiting === 0 || pacer.limit !== undefined;
  if (!isKnown || usualMs === undefined || waiting + running === 0) return { left, nextAt };
  return { left, nextAt, endsAt: (pacer.times(waiting).at(-1) ?? now) + usualMs };
}

import type { LimitOptions } from "../../../machine/machine.js";
import { type Quota, quotaJson, quotaOf } from "../../../machine/quota.js";
import { formatDuration } from "../../../text/duration.js";
import type { Context } from "../../context.js";

/** How much of the hour is left for the origin and key in use. Reads the records of this machine only. */
export async function quota(ctx: Context, options: LimitOptions): Promise<number> {
  const { reporter, host, provider } = ctx;
  const state = quotaOf(ctx, options);
  await reporter.show(quotaJson(state), quotaText(state, host.clock.now()));
  await reporter.say(
    "counted from this machine's own records: what other machines sent with this key is not in it",
  );
  if (ctx.hourlyLimit(options) === undefined)
    await reporter.say(
      provider
        ? `${provider.title} has limits of its own that it does not say; --per-hour N counts against one of yours`
        : "no limit is set, so it is unknown what is left: pass --tier or --per-hour, or `research config set tier free`",
    );
  return 0;
}

/** The hour as a sentence; `now` is epoch milliseconds. */
export function quotaText({ used, limit, left, nextSlotAt, origin }: Quota, now: number): string {
  if (limit === null || nextSlotAt === null) return `${used} creates in the last hour at ${origin}\n`;
  const next =
    nextSlotAt <= now
      ? "the next one may be sent now"
      : `the next slot is in ${formatDuration(nextSlotAt - now)}, at ${new Date(nextSlotAt).toISOString()}`;
  return `${used} of ${limit} creates used in the last hour at ${origin}, ${left} left; ${next}\n`;
}

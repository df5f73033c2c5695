import type { LimitOptions } from "../../../machine/machine.js";
import { requireConnection } from "../../../machine/settings.js";
import { LocalError } from "../../../store/errors.js";
import { currentHour } from "../../../workflows/quota.js";
import type { Context } from "../../context.js";
import { quotaJson, quotaText } from "./view.js";

/** How much of the hour is left for the origin and key in use. Reads the records of this machine only. */
export async function quota(ctx: Context, options: LimitOptions): Promise<number> {
  const { reporter, settings, host } = ctx;
  const { origin } = requireConnection(settings);
  const said = ctx.hourlyLimit(options);
  const limit = said === Number.POSITIVE_INFINITY ? undefined : said;
  const hour = currentHour(ctx.ports, limit ?? 1);
  if (!hour)
    throw new LocalError(
      "the creates of this hour are not counted, since no history is kept on this machine",
    );
  const used = hour.attempts.length;
  const state = {
    used,
    limit: limit ?? null,
    left: limit === undefined ? null : Math.max(0, limit - used),
    nextSlotAt: limit === undefined ? null : hour.nextAt,
    origin,
    profile: settings.profile.value,
  };
  if (reporter.json) await reporter.resultJson(quotaJson(state));
  else await reporter.result(quotaText(state, host.clock.now()));
  await reporter.say(
    "counted from this machine's own records: what other machines sent with this key is not in it",
  );
  if (said === undefined)
    await reporter.say(
      ctx.provider
        ? `${ctx.provider.title} has limits of its own that it does not say; --per-hour N counts against one of yours`
        : "no limit is set, so it is unknown what is left: pass --tier or --per-hour, or `research config set tier free`",
    );
  return 0;
}

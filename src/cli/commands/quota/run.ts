import type { LimitOptions } from "../../../app/profile-account.js";
import { type AccountQuota, listQuotas, readQuota } from "../../../app/read-quota.js";
import { formatDollars } from "../../../core/text/describe-progress.js";
import { formatCount } from "../../../core/text/format-text.js";
import { escapeLine } from "../../../core/text/safe-text.js";
import { formatDuration } from "../../../core/text/time-format.js";
import type { Context } from "../../command-context.js";
import { formatTable } from "../../terminal/align-columns.js";

/** Prints how many create calls the hour still allows at the origin and key in use. Reads only this machine's history. */
export async function runQuota(ctx: Context, options: LimitOptions & { all?: boolean }): Promise<void> {
  const { reporter, host, provider } = ctx;
  if (options.all) {
    const all = listQuotas(ctx);
    await reporter.show(all, formatTable(ALL, all.map(formatAccountRow), host.stdout));
    if (all.some(({ spent }) => spent.some(hasMore)))
      await reporter.say("+: some requests did not report a cost and are not in this sum");
    return;
  }
  const account = readQuota(ctx, options);
  await reporter.showFitted(account, formatCreatesUsed(account, host.clock.now()) + formatSpending(account));
  await reporter.say(
    "counted from this machine's own records; creates of other machines with this key are not included",
  );
  if (ctx.getHourlyLimit(options) === undefined)
    await reporter.say(
      provider
        ? `${provider.title} does not publish its limits; set your own with --per-hour N`
        : "no limit is set, so the remaining creates are unknown: pass --tier or --per-hour, or run `research config set tier free`",
    );
}

const ALL = ["PROFILE", "HOUR", "24 H", "7 D", "30 D", "ORIGIN"];

/** Formats the row of one account: its create calls in the last hour and, for each period, the requests with their cost or else their tokens. */
function formatAccountRow({ profile, origin, used, spent }: AccountQuota): string[] {
  const cells = spent.map((time) => {
    const { requests, dollars: cost, tokens } = time;
    const sum = cost !== null ? formatDollars(cost) : tokens !== null && formatCount(tokens, "token");
    return sum ? `${requests}, ${sum}${hasMore(time) ? "+" : ""}` : `${requests}`;
  });
  return [profile, `${used}`, ...cells, escapeLine(origin)];
}

const hasMore = ({ dollars: cost, unsaid }: AccountQuota["spent"][number]) => cost !== null && unsaid > 0;

/** Formats the use of the daily limit, if there is one, and the spending of each period: one line each. */
function formatSpending({ day, spent }: AccountQuota): string {
  const today = day ? [`${day.used} of ${day.limit} creates used in 24 hours, ${day.left} left`] : [];
  const lines = spent.map(({ since, requests, running, dollars: cost, tokens, unsaid }) => {
    const parts = [
      formatCount(requests, "request"),
      ...(running > 0 ? [`${running} running`] : []),
      ...(cost === null ? [] : [formatDollars(cost)]),
      ...(tokens === null ? [] : [formatCount(tokens, "token")]),
      ...(unsaid > 0 ? [unsaid === requests ? "cost not reported" : `cost of ${unsaid} not reported`] : []),
    ];
    return `last ${since}: ${parts.join(", ")}`;
  });
  return [...today, ...lines].map((line) => `${line}\n`).join("");
}

/** Formats the hour as a sentence. `now`: epoch milliseconds. */
export function formatCreatesUsed(
  { used, limit, left, next_slot_at: next_at, origin }: Omit<AccountQuota, "day" | "spent">,
  now: number,
): string {
  if (next_at === null) return `${formatCount(used, "create")} in the last hour at ${origin}\n`;
  const next =
    Date.parse(next_at) <= now
      ? "the next one may be sent now"
      : `the next slot is in ${formatDuration(Date.parse(next_at) - now)}, at ${next_at}`;
  return `${used} of ${limit} creates used in the last hour at ${origin}, ${left} left; ${next}\n`;
}

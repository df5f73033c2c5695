import { explainError } from "../../app/describe-failure.js";
import { UsageError } from "../../app/errors.js";
import type { Account } from "../../client/workflows/account.js";
import { type AccountRequest, submitWithFallback } from "../../client/workflows/account-fallback.js";
import { CreateOnce } from "../../client/workflows/create-once.js";
import { type NamedTarget, readFinalState } from "../../client/workflows/find-and-query-requests.js";
import { catchLocalError } from "../../core/files/local-error.js";
import { formatDuration, formatIsoDate } from "../../core/text/time-format.js";
import type { Given } from "../commands/shared-flags.js";
import { Interrupted } from "../terminal/interruption.js";
import type { Reporter, Terminal } from "../terminal/reporter.js";

/** Submits a create call and shows its progress. Prints an id that could not be saved. `reused`: the existing request that is used instead. */
export async function showSubmit(
  { reporter, signal }: Terminal,
  requests: readonly AccountRequest[],
  { waitForQuota, once = false, within }: Given<"waitForQuota" | "once">,
) {
  if (within !== undefined && !once) throw new UsageError("--within needs --once");
  const submit = {
    waitForQuota,
    signal,
    onWait: (until: number, { account }: Pick<AccountRequest, "account">) =>
      reporter.writeNotice(
        "WAITING_FOR_QUOTA",
        `${explainQuotaWait(account)}; waiting ${formatDuration(until - account.clock.now())}, until ${formatIsoDate(until)}`,
      ),
    onNext: (error: unknown, { account }: AccountRequest, { account: next }: AccountRequest) =>
      reporter.writeNotice(
        "NEXT_ACCOUNT",
        `${describeAccount(account)}: ${explainError(error)}; nothing was created there; trying ${describeAccount(next)}`,
      ),
  };
  const showUnderWay = (until: number) =>
    reporter.writeNotice(
      "UNDER_WAY",
      `another command is creating the same request; waiting for it until ${formatIsoDate(until)} at most`,
    );
  const making = once
    ? new CreateOnce().create(requests, { withinMs: within, submit, onUnderWay: showUnderWay })
    : submitWithFallback(requests, submit).then((created) => ({ kind: "created", ...created }) as const);
  const made = await making.catch((error) => {
    // Another command may have created the same request, so say only what this command did.
    if (error instanceof Interrupted)
      error.resume = "this command created nothing; run it again to submit the request";
    throw error;
  });
  const { request } = made;
  if (made.kind === "reused") {
    const { entry } = made;
    const { request_id, sent_at, status, cut_short } = entry;
    const again = cut_short
      ? `; its result was cut short: \`research rerun ${request_id}\` submits it again`
      : "";
    await reporter.writeNotice(
      "REUSED",
      `reusing ${request_id} of ${sent_at} (${status}), the same question; nothing was sent${again}`,
    );
    return { request, requestId: request_id ?? "", submitted: undefined, reused: entry };
  }
  const { submitted } = made;
  const { data, notSaved } = submitted;
  if (notSaved)
    await reporter.writeNotice(
      "NOT_SAVED",
      `NOT SAVED: ${data.request_id} was created, but ${notSaved.message}`,
    );
  return { request, requestId: data.request_id, submitted, reused: undefined };
}

/** Returns the target to follow after a create call. Ignores a history that cannot be read, because the request exists (contract §1.5). */
export function buildCreatedTarget({
  request: { account },
  requestId,
  submitted,
  reused: entry,
}: Awaited<ReturnType<typeof showSubmit>>): NamedTarget {
  catchLocalError(() => {
    entry ??= account.history?.find(requestId)[0];
  });
  return { requestId, entry, account, end: submitted && readFinalState(submitted.data) };
}

export function describeAccount({ profile, origin }: Pick<Account, "profile" | "origin">): string {
  return profile === null ? origin : `profile ${profile}`;
}

/** Explains why no create call is sent now. A provider's limit lasts seconds or minutes, so it is not called hourly. */
export function explainQuotaWait({ provider, perDay }: Pick<Account, "provider" | "perDay">): string {
  if (perDay) return `a limit of creates is reached`;
  return provider ? `the limit of ${provider.title} is reached` : "the hourly limit is reached";
}

/** Prints how many create calls are left in this hour, if there is a limit. */
export async function reportCreatesLeft(
  reporter: Reporter,
  { account, limit }: AccountRequest,
): Promise<void> {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  const hour = account.history?.countHour(account, limit);
  if (!hour)
    return reporter.writeNotice("QUOTA_UNKNOWN", "creates are not counted, because the history is off");
  const left = Math.max(0, limit - hour.attempts.length);
  const next = left > 0 ? "" : `; the next one is allowed at ${formatIsoDate(hour.nextAt)}`;
  await reporter.writeNotice("QUOTA", `${left} of ${limit} creates left in this hour${next}`);
}

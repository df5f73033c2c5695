import type { CreateBody } from "../../core/protocol/conversation.js";
import { RefusedError, UnreachableError } from "../calls/errors.js";
import type { CallOptions } from "../calls/research-client.js";
import type { Account } from "./account.js";
import { NoAccountError, QuotaExceededError } from "./errors.js";
import { isUnknownModelError, type SubmittedRequest, submitRequest } from "./submit-request.js";
import { findBlockedUntil, waitUntilWallTime } from "./wait-for-quota.js";

/** An account to which a create call may go, with the request body for it. */
export interface AccountRequest<P extends Account = Account> {
  account: P;
  body: CreateBody;
  /** Maximum number of create calls per hour; undefined for no limit. */
  limit?: number | undefined;
}

export interface FallbackOptions extends CallOptions {
  /** Whether to wait for the next allowed create call instead of throwing. */
  waitForQuota?: boolean | undefined;
  /** Called, and awaited, before each wait. `until`: the end of the wait, epoch ms. */
  onWait?: (until: number, request: AccountRequest) => void | Promise<void>;
  /** Called, and awaited, before the create call goes to the next account, with the error from the previous one. */
  onNext?: (error: unknown, request: AccountRequest, next: AccountRequest) => void | Promise<void>;
}

/**
 * Creates a request at the first account that accepts it. With `waitForQuota`, waits until a create call is allowed, by
 * this machine's records or by a 429. Rejects as `submit` does, or with NoAccountError if several accounts refused.
 */
export async function submitWithFallback(
  requests: readonly AccountRequest[],
  { signal, waitForQuota = false, onWait, onNext }: FallbackOptions,
): Promise<{ submitted: SubmittedRequest; request: AccountRequest }> {
  const reasons: { name: string; error: unknown }[] = [];
  let waits = 0;
  for (let index = 0; ; ) {
    const request = requests[index];
    if (!request) throw new TypeError("no account is named");
    const { account, body, limit } = request;
    let hasId = false;
    try {
      const submitted = await submitRequest(account, body, {
        ...{ signal, limit },
        ...(index > 0 && { askedOf: pickAccountIdentity((requests[0] ?? request).account) }),
        onId: () => {
          hasId = true;
        },
      });
      return { submitted, request };
    } catch (error) {
      // A provider's limits last seconds or minutes, so wait only as long as its answer says.
      const listAttempts = () =>
        account.provider ? [] : (account.history?.countHour(account, 1).attempts ?? []);
      const guesses = account.provider?.guessesWaits ? waits : 0;
      const now = account.clock.now();
      const until = waitForQuota ? findBlockedUntil(error, listAttempts, limit, now, guesses) : undefined;
      if (until !== undefined) {
        waits++;
        await onWait?.(until, request);
        await waitUntilWallTime(account, until, { signal });
        continue;
      }
      reasons.push({ name: account.profile ?? account.origin, error });
      const next = requests[++index];
      if (hasId || !next || !isFallbackAllowed(error, request))
        throw signal?.aborted || reasons.length === 1 ? error : new NoAccountError(reasons);
      await onNext?.(error, request, next);
    }
  }
}

/** Picks the fields of an account that are recorded. The key is empty if the account has none. */
export function pickAccountIdentity(account: Omit<Account, "client">) {
  const { origin, basePath, profile } = account;
  return { origin, basePath, profile, apiKey: getApiKey(account) ?? "" };
}

/** Returns the key of an account; undefined if the account has none. */
export function getApiKey(account: Pick<Account, "apiKey">): string | undefined {
  try {
    return account.apiKey;
  } catch {
    return undefined;
  }
}

/** Returns whether `error` proves that the account created nothing, for a reason that may not apply to another account. */
export function isFallbackAllowed(error: unknown, { account, body }: AccountRequest): boolean {
  if (error instanceof QuotaExceededError) return error.day === undefined;
  if (error instanceof UnreachableError) return error.unsent;
  if (!(error instanceof RefusedError)) return Object(error).code === "NOT_AUTHENTICATED";
  if (["unauthenticated", "no-credit", "rate-limited"].includes(error.kind)) return true;
  // The user did not choose this version's default model, which the provider may have retired, so try the next account.
  return account.provider !== undefined && body.model === undefined && isUnknownModelError(error);
}

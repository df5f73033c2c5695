import type { CreateBody } from "../../core/protocol/conversation.js";
import type { CallOptions } from "../calls/client.js";
import { RefusedError, UnreachableError } from "../calls/errors.js";
import { NoAccountError, QuotaExceededError } from "./errors.js";
import type { Ports } from "./ports.js";
import { findBlockedUntil, waitUntil } from "./quota.js";
import { isModelGone, type Submitted, submit } from "./submit.js";

/** An account that a create may go to, with the request body for it. */
export interface AskedAccount<P extends Ports = Ports> {
  ports: P;
  body: CreateBody;
  /** Creates per hour. */
  limit?: number | undefined;
}

export interface FirstAccountOptions extends CallOptions {
  /** Whether to wait for the hour instead of throwing. */
  waitForQuota?: boolean | undefined;
  /** Awaited before each wait, which ends at `until` (epoch ms). */
  onWait?: (until: number, account: AskedAccount) => void | Promise<void>;
  /** Awaited before the create goes to the next account, with the error of the previous one. */
  onNext?: (error: unknown, account: AskedAccount, next: AskedAccount) => void | Promise<void>;
}

/**
 * Creates at the first of `accounts` that takes it; with `waitForQuota` it waits until the hour has a create left, by this
 * machine's records or a 429. Rejects as `submit`, or with NoAccountError if several accounts refused.
 */
export async function submitToFirst<P extends Ports>(
  accounts: readonly AskedAccount<P>[],
  { signal, waitForQuota = false, onWait, onNext }: FirstAccountOptions,
): Promise<{ submitted: Submitted; account: AskedAccount<P> }> {
  const reasons: { name: string; error: unknown }[] = [];
  let waits = 0;
  for (let index = 0; ; ) {
    const account = accounts[index];
    if (!account) throw new TypeError("no account is named");
    const { ports, body, limit } = account;
    let hasId = false;
    try {
      const submitted = await submit(ports, body, {
        ...{ signal, limit },
        ...(index > 0 && { askedOf: pickAccount((accounts[0] ?? account).ports) }),
        onId: () => {
          hasId = true;
        },
      });
      return { submitted, account };
    } catch (error) {
      // A provider's limits last seconds or minutes, so wait only for as long as its response says.
      const listAttempts = () => (ports.provider ? [] : (ports.history?.countHour(ports, 1).attempts ?? []));
      const guesses = ports.provider?.guessesWaits ? waits : 0;
      const now = ports.clock.now();
      const until = waitForQuota ? findBlockedUntil(error, listAttempts, limit, now, guesses) : undefined;
      if (until !== undefined) {
        waits++;
        await onWait?.(until, account);
        await waitUntil(ports, until, { signal });
        continue;
      }
      reasons.push({ name: ports.profile ?? ports.origin, error });
      const next = accounts[++index];
      if (hasId || !next || !canGoOn(error, account))
        throw signal?.aborted || reasons.length === 1 ? error : new NoAccountError(reasons);
      await onNext?.(error, account, next);
    }
  }
}

/** Picks the fields of an account for a record; its key is empty if it has no key. */
export function pickAccount(ports: Omit<Ports, "client">) {
  const { origin, basePath, profile } = ports;
  return { origin, basePath, profile, apiKey: getKey(ports) ?? "" };
}

/** Returns the key of an account; undefined if it has no key. */
export function getKey(ports: Pick<Ports, "apiKey">): string | undefined {
  try {
    return ports.apiKey;
  } catch {
    return undefined;
  }
}

/** Whether `error` proves that the account created nothing, for a reason that may not hold at another account. */
export function canGoOn(error: unknown, { ports, body }: AskedAccount): boolean {
  if (error instanceof QuotaExceededError) return error.day === undefined;
  if (error instanceof UnreachableError) return error.unsent;
  if (!(error instanceof RefusedError)) return Object(error).code === "NOT_AUTHENTICATED";
  if (["unauthenticated", "no-credit", "rate-limited"].includes(error.kind)) return true;
  // Providers retire models every few months, and the user did not choose this version's default model.
  return ports.provider !== undefined && body.model === undefined && isModelGone(error);
}

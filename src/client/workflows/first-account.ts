import type { CreateBody } from "../../ground/protocol/conversation.js";
import { RefusedError, UnreachableError } from "../calls/errors.js";
import { NoAccountError, QuotaExceededError } from "./errors.js";
import {
  isModelGone,
  type QuotaSubmitOptions,
  type SubmitPorts,
  type Submitted,
  submitWithinQuota,
} from "./submit.js";

/** An account that a create may go to, and what it is asked there. */
export interface AskedAccount<P extends SubmitPorts = SubmitPorts> {
  ports: P;
  body: CreateBody;
  /** Creates per hour. */
  limit?: number | undefined;
}

export interface FirstAccountOptions extends Omit<QuotaSubmitOptions, "limit" | "onWait"> {
  onWait?: (until: number, account: AskedAccount) => void | Promise<void>;
  /** Awaited before the next account is asked, with what the one before it said. */
  onNext?: (error: unknown, account: AskedAccount, next: AskedAccount) => void | Promise<void>;
}

/** Creates at the first of `accounts` that takes it. Rejects as `submit`, with NoAccountError if several were asked. */
export async function submitToFirst<P extends SubmitPorts>(
  accounts: readonly AskedAccount<P>[],
  { onWait, onNext, ...options }: FirstAccountOptions,
): Promise<{ submitted: Submitted; account: AskedAccount<P> }> {
  const [first] = accounts;
  const said: { name: string; error: unknown }[] = [];
  for (const [index, account] of accounts.entries()) {
    const { ports, body, limit } = account;
    let hasId = false;
    try {
      const submitted = await submitWithinQuota(ports, body, {
        ...{ ...options, limit },
        ...(first && index > 0 && { askedOf: accountOf(first.ports) }),
        onWait: (until) => onWait?.(until, account),
        onId: () => {
          hasId = true;
        },
      });
      return { submitted, account };
    } catch (error) {
      said.push({ name: ports.profile ?? ports.origin, error });
      const next = accounts[index + 1];
      const isOver = options.signal?.aborted || hasId || !next || !mayGoOn(error, account);
      if (isOver) throw options.signal?.aborted || index === 0 ? error : new NoAccountError(said);
      await onNext?.(error, account, next);
    }
  }
  throw new TypeError("no account is named");
}

/** An account as a record names it; its key is empty if it has none. */
export function accountOf(ports: Omit<SubmitPorts, "client">) {
  const { origin, basePath, profile } = ports;
  return { origin, basePath, profile, apiKey: keyOf(ports) ?? "" };
}

/** The key of an account; undefined if it has none. */
export function keyOf(ports: Pick<SubmitPorts, "apiKey">): string | undefined {
  try {
    return ports.apiKey;
  } catch {
    return undefined;
  }
}

/** Whether `error` proves that the account created nothing, for a reason that may not hold at another account. */
export function mayGoOn(error: unknown, { ports, body }: AskedAccount): boolean {
  if (error instanceof QuotaExceededError) return error.day === undefined;
  if (error instanceof UnreachableError) return error.unsent;
  if (!(error instanceof RefusedError)) return Object(error).code === "NOT_AUTHENTICATED";
  if (["unauthenticated", "no-credit", "rate-limited"].includes(error.kind)) return true;
  // Models end every few months: the default one of this version is nobody's choice.
  return ports.provider !== undefined && body.model === undefined && isModelGone(error);
}

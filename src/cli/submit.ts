import type { Created } from "../client/client.js";
import { OutcomeUnknownError, RefusedError, UnreachableError } from "../client/errors.js";
import type { CreateBody } from "../protocol/conversation.js";
import { LocalError } from "../store/errors.js";
import type { Pending } from "../store/history/recorded-create.js";
import { reserve } from "../store/history/reserve-create.js";
import type { Context } from "./context.js";
import { CliError, Interrupted } from "./errors.js";
import {
  announceWait,
  blockedUntil,
  currentHour,
  hourlyLimit,
  QuotaFull,
  type QuotaOptions,
  waitUntil,
} from "./quota.js";
import { requireConnection } from "./settings.js";

/** A request that exists. */
export interface Submitted {
  data: Created;
  /** Why the id could not be kept in the history, which is then the caller's to tell. */
  notSaved: LocalError | undefined;
}

export interface SubmitOptions {
  /** Creates allowed in an hour; nothing is counted where it is absent or Infinity. */
  limit?: number | undefined;
  /** Called before anything is sent, with the name the history has for it, where one is kept. */
  onIntent?: (localId: string | undefined) => void;
}

/**
 * Creates a request so that it is never lost: the intent is on the disk before anything is sent, the id before
 * this returns. Throws what the client throws, QuotaFull where the hour has no create left, and what `onIntent`
 * throws; an unknown outcome names its local id.
 */
export async function submit(
  ctx: Context,
  body: CreateBody,
  { limit, onIntent }: SubmitOptions = {},
): Promise<Submitted> {
  const { client } = ctx;
  const pending = await begin(ctx, body, limit);
  try {
    onIntent?.(pending?.localId);
  } catch (error) {
    pending?.dismissed();
    throw error;
  }
  let known = false;
  let notSaved: LocalError | undefined;
  const keep = (write: () => void) => {
    try {
      write();
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      notSaved = error;
    }
  };
  try {
    const data = await client.create(body, {
      signal: ctx.signal,
      onRequestId: (requestId, answered) => {
        known = answered !== undefined;
        keep(() => (answered ? pending?.created(requestId, answered) : pending?.salvaged(requestId)));
      },
    });
    if (!known) keep(() => pending?.created(data.request_id, data));
    return { data, notSaved };
  } catch (error) {
    throw settle(error, pending, notSaved);
  }
}

/**
 * As `submit`; where the hour has no create left, by this machine's records or by a 429, waits for it with
 * `waitForQuota`, and says so.
 */
export async function submitWithinQuota(
  ctx: Context,
  body: CreateBody,
  options: QuotaOptions,
): Promise<Submitted> {
  const limit = hourlyLimit(ctx, options);
  for (;;) {
    try {
      return await submit(ctx, body, { limit });
    } catch (error) {
      const attempts = () => currentHour(ctx, limit ?? 1)?.attempts ?? [];
      const until = blockedUntil(error, attempts, limit, ctx.host.clock.now());
      if (until === undefined || !options.waitForQuota) throw error;
      await announceWait(ctx, "the hourly limit is reached", until);
      await waitUntil(ctx, until);
    }
  }
}

/** Throws LocalError where the intent cannot be kept, QuotaFull where no slot is left: then nothing is sent. */
async function begin(
  ctx: Context,
  body: CreateBody,
  limit = Number.POSITIVE_INFINITY,
): Promise<Pending | undefined> {
  const { settings, history, folders, host } = ctx;
  if (settings.history.value === "off") return undefined;
  const hint =
    "set RESEARCH_STATE_DIR to a folder that can be written, or RESEARCH_NO_HISTORY=1 to go on without a record";
  if (!history || !folders.state)
    throw new LocalError(`the request was not sent, because there is no folder to record it in: ${hint}`);
  const { origin, apiKey } = requireConnection(settings);
  const profile = settings.profile.source === "default" ? null : settings.profile.value;
  const attempt = { origin, apiKey, body, profile };
  try {
    if (limit === Number.POSITIVE_INFINITY) return history.begin(attempt);
    const now = () => host.clock.now();
    const claim = await reserve(history, folders.state, attempt, limit, now, ctx.signal);
    if ("pending" in claim) return claim.pending;
    throw new QuotaFull(limit, claim.fullUntil, now());
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new LocalError(`the request was not sent: ${error.message}; ${hint}`, { cause: error });
  }
}

/** What the history is told of a create that did not end well. */
function settle(error: unknown, pending: Pending | undefined, notSaved: LocalError | undefined): unknown {
  if (error instanceof OutcomeUnknownError) {
    const localId = pending?.localId;
    const kept = localId
      ? `It is kept as unknown; settle it: research resolve ${localId} --request-id ID, or --not-created.`
      : "It is in no history; look for it where the service lists requests.";
    return new UnknownOutcome(error, localId, notSaved ? `${kept} ${notSaved.message}` : kept);
  }
  // Only what provably created nothing leaves the history; anything unforeseen stays an unknown.
  if (error instanceof RefusedError || error instanceof UnreachableError || error instanceof Interrupted) {
    // The service does not count what it turns down for its rate (§8), and has not seen what never arrived.
    const counted = error instanceof RefusedError && error.kind !== "rate-limited";
    pending?.dismissed(counted ? error.code : undefined);
  }
  return error;
}

/** A create whose outcome nobody knows, with the name it has in the history. */
export class UnknownOutcome extends CliError {
  constructor(error: OutcomeUnknownError, localId: string | undefined, hint: string) {
    const { httpStatus, requestId, retryAfter, message } = error;
    super(
      "OUTCOME_UNKNOWN",
      `the request was sent and no readable answer came back, so it may or may not exist (${message})`,
      { httpStatus, localId, requestId, retryAfter, hint },
    );
  }
}

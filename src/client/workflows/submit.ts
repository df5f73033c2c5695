import { catchLocalError, LocalError } from "../../core/files/local-error.js";
import { type CreateBody, type Data, isFinal } from "../../core/protocol/conversation.js";
import type { CallOptions, Created, StatusData } from "../calls/client.js";
import { OutcomeUnknownError, RefusedError, UnreachableError } from "../calls/errors.js";
import { addDefaults, hintMissingModel, isAboutModel } from "../dialects/providers.js";
import type { RecordedCreate } from "../store/history/recorded-create.js";
import type { Attempt } from "../store/history/records.js";
import type { Account } from "./account.js";
import { CreateRefusedError, NotRecordedError, QuotaExceededError, UnresolvedCreateError } from "./errors.js";
import { observe } from "./requests.js";

/** A request that exists. */
export interface Submitted {
  /** §4.1, as the service gave it. */
  data: Created;
  /** Its name in the history; undefined if no history is kept. */
  localId: string | undefined;
  /** The error that kept the id from being recorded: the caller then holds the only copy. */
  notSaved: LocalError | undefined;
}

export interface SendOptions extends CallOptions {
  /** Creates allowed per hour; nothing is counted if it is absent or Infinity. */
  limit?: number | undefined;
  /** Called before anything is sent, with the create's name in the history. If it throws, nothing is sent. */
  onIntent?: (localId: string | undefined) => void;
  /** Called if the response contains an id, even if it is an error. */
  onId?: () => void;
  /** The account that the create was first sent to, if it was another one. */
  askedOf?: Attempt["askedOf"];
}

/**
 * Creates a request so that it is never lost: the intent is on the disk before anything is sent, the id before
 * this resolves. Rejects with NotRecordedError, QuotaExceededError or CreateRefusedError (nothing was sent),
 * ResearchError `USAGE` for what the service cannot be asked, UnresolvedCreateError (it may exist), any other error of
 * the client, `signal.reason`, or what `onIntent` threw.
 */
export async function submit(
  account: Account,
  asked: CreateBody,
  { limit, onIntent, onId, askedOf, signal }: SendOptions = {},
): Promise<Submitted> {
  const { client } = account;
  const body = addDefaults(account.provider, asked);
  await client.check(body);
  const pending = await begin(account, body, { limit, askedOf, signal });
  try {
    onIntent?.(pending?.localId);
  } catch (error) {
    pending?.recordDismissed();
    throw error;
  }
  let recorded: Data | undefined;
  let notSaved: LocalError | undefined;
  const keep = (write: () => void) => {
    notSaved = catchLocalError(write) ?? notSaved;
  };
  try {
    const data = await client.create(body, {
      signal,
      onRequestId: (requestId, answered) => {
        onId?.();
        recorded = answered;
        keep(() =>
          answered ? pending?.recordCreated(requestId, answered) : pending?.recordSalvaged(requestId),
        );
      },
    });
    if (!recorded) keep(() => pending?.recordCreated(data.request_id, data));
    if (notSaved) pending?.recordGivenUp();
    else if (pending && isFinal(String(data.status)))
      catchLocalError(() => keepEnd(account, pending.localId, data as Created & StatusData));
    return { data, localId: pending?.localId, notSaved };
  } catch (error) {
    const { provider } = account;
    if (provider && isModelGone(error))
      Object.assign(error, { hint: hintMissingModel(provider, asked.model, error.code) ?? error.hint });
    const failure = settle(error, pending, notSaved, signal);
    // A refused create has no record. If a text cannot be removed now, the next create removes it.
    if (body.context) await account.history?.forget([]).catch(() => {});
    throw failure;
  }
}

/** Keeps the end and the result if the response to a create shows them already. Throws LocalError. */
function keepEnd(account: Account, localId: string, data: StatusData): void {
  const [entry] = account.history?.find(localId) ?? [];
  if (entry) observe({ entry: { ...entry, status: "PENDING" }, account }, data);
}

/** Whether a provider refused a create because the model is unknown or retired: nothing was created. */
export function isModelGone(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.kind === "invalid-input" && isAboutModel(error);
}

/** Records the intent. Nothing is sent if this rejects. */
async function begin(
  { history, unrecorded, origin, basePath, apiKey, profile, clock, perDay }: Account,
  body: CreateBody,
  { limit, askedOf, signal }: SendOptions,
): Promise<RecordedCreate | undefined> {
  if (!history) {
    if (perDay) throw new CreateRefusedError("no-history");
    if (unrecorded) return undefined;
    throw new NotRecordedError("the request was not sent: no folder to record it in");
  }
  const attempt = { origin, basePath, apiKey, body, profile, askedOf };
  try {
    // Reserve only if needed: it reads the whole hour, and keeps a context under the same lock.
    if (!Number.isFinite(limit) && !perDay && !body.context) return history.begin(attempt);
    const claim = await history.reserve(attempt, { perHour: limit, perDay: perDay?.value }, signal);
    if ("pending" in claim) return claim.pending;
    const { fullUntil, isDay } = claim;
    const day = isDay && perDay ? { source: perDay.source, origin, profile } : undefined;
    throw new QuotaExceededError((day ? perDay?.value : limit) ?? 0, fullUntil, clock.now(), day);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new NotRecordedError(`the request was not sent: ${error.message}`, { cause: error });
  }
}

/** Updates the history after a failed create, and returns the error to throw. */
function settle(
  error: unknown,
  pending: RecordedCreate | undefined,
  notSaved: LocalError | undefined,
  signal: AbortSignal | undefined,
): unknown {
  if (error instanceof OutcomeUnknownError) {
    pending?.recordGivenUp();
    return new UnresolvedCreateError(error.detail, error, pending?.localId, notSaved);
  }
  // Remove a create only if it provably created nothing; any other failure stays unknown. The client rejects
  // with the reason of the signal only before the request's headers were sent.
  const wasInterrupted = signal?.aborted && error === signal.reason;
  if (error instanceof RefusedError || error instanceof UnreachableError || wasInterrupted) {
    // The service counts neither creates that it refuses for their rate (§8) nor creates that never arrived.
    const counted = error instanceof RefusedError && error.kind !== "rate-limited";
    pending?.recordDismissed(counted ? error.code : undefined);
  } else {
    pending?.recordGivenUp();
  }
  return error;
}

import { catchLocalError, LocalError } from "../../core/files/local-error.js";
import { type CreateBody, type Data, isFinal } from "../../core/protocol/conversation.js";
import { OutcomeUnknownError, RefusedError, UnreachableError } from "../calls/errors.js";
import type { CallOptions, Created, StatusData } from "../calls/research-client.js";
import { addProviderDefaults, isModelRefusal, suggestModel } from "../dialects/providers.js";
import type { CreateRecorder } from "../store/history/create-recorder.js";
import type { CreateAttempt } from "../store/history/history-records.js";
import type { Account } from "./account.js";
import { CreateRefusedError, NotRecordedError, QuotaExceededError, UnresolvedCreateError } from "./errors.js";
import { recordState } from "./find-and-query-requests.js";

/** A request that was created. */
export interface SubmittedRequest {
  /** The service's answer (§4.1), unchanged. */
  data: Created;
  /** The request's local id in the history; undefined without a history. */
  localId: string | undefined;
  /** Why the id could not be recorded; then only the caller has the id. */
  notSaved: LocalError | undefined;
}

export interface SendOptions extends CallOptions {
  /** Create calls allowed per hour; undefined or Infinity for no limit, and nothing is counted then. */
  limit?: number | undefined;
  /** Called before anything is sent, with the create call's local id. If it throws, nothing is sent. */
  onIntent?: (localId: string | undefined) => void;
  /** Called if the answer contains an id, even if the answer is an error. */
  onId?: () => void;
  /** The account that was tried first, if this is a different one. */
  askedOf?: CreateAttempt["askedOf"];
}

/**
 * Creates a request so that it is never lost: the intent is on disk before anything is sent, and the id before this
 * resolves. Rejects with NotRecordedError, QuotaExceededError or CreateRefusedError (nothing was sent), ResearchError
 * `USAGE` if the service does not support the request, UnresolvedCreateError (it may exist), any other error of the
 * client, `signal.reason`, or what `onIntent` threw.
 */
export async function submitRequest(
  account: Account,
  asked: CreateBody,
  { limit, onIntent, onId, askedOf, signal }: SendOptions = {},
): Promise<SubmittedRequest> {
  const { client } = account;
  const body = addProviderDefaults(account.provider, asked);
  await client.check(body);
  const pending = await recordIntent(account, body, { limit, askedOf, signal });
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
      catchLocalError(() => recordImmediateEnd(account, pending.localId, data as Created & StatusData));
    return { data, localId: pending?.localId, notSaved };
  } catch (error) {
    const { provider } = account;
    if (provider && isUnknownModelError(error))
      Object.assign(error, { hint: suggestModel(provider, asked.model, error.code) ?? error.hint });
    const failure = recordFailedCreate(error, pending, notSaved, signal);
    // A refused create call has no record. A context text that cannot be removed now is removed by the next create call.
    if (body.context) await account.history?.forget([]).catch(() => {});
    throw failure;
  }
}

/** Records the end, and keeps the result, if the answer to a create call shows the end. Throws LocalError. */
function recordImmediateEnd(account: Account, localId: string, data: StatusData): void {
  const [entry] = account.history?.find(localId) ?? [];
  if (entry) recordState({ entry: { ...entry, status: "PENDING" }, account }, data);
}

/** Returns whether a provider refused a create call because the model is unknown or retired. Nothing was created then. */
export function isUnknownModelError(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.kind === "invalid-input" && isModelRefusal(error);
}

/** Records the intent of a create call; undefined if none is recorded. If it rejects, nothing may be sent. */
async function recordIntent(
  { history, unrecorded, origin, basePath, apiKey, profile, clock, perDay }: Account,
  body: CreateBody,
  { limit, askedOf, signal }: SendOptions,
): Promise<CreateRecorder | undefined> {
  if (!history) {
    if (perDay) throw new CreateRefusedError("no-history");
    if (unrecorded) return undefined;
    throw new NotRecordedError("the request was not sent: no folder to record it in");
  }
  const attempt = { origin, basePath, apiKey, body, profile, askedOf };
  try {
    // Reserve only if needed, because that reads the whole hour. A context must be stored under the same lock.
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

/** Records in the history how a create call failed. Returns the error to throw. */
function recordFailedCreate(
  error: unknown,
  pending: CreateRecorder | undefined,
  notSaved: LocalError | undefined,
  signal: AbortSignal | undefined,
): unknown {
  if (error instanceof OutcomeUnknownError) {
    pending?.recordGivenUp();
    return new UnresolvedCreateError(error.detail, error, pending?.localId, notSaved);
  }
  // Dismiss a create call only if it provably created nothing; any other failure stays unknown. The client rejects with
  // the reason of the signal only before the headers were sent.
  const wasInterrupted = signal?.aborted && error === signal.reason;
  if (error instanceof RefusedError || error instanceof UnreachableError || wasInterrupted) {
    // The service counts neither create calls that it refuses because of their rate (§8) nor those that never arrived.
    const counted = error instanceof RefusedError && error.kind !== "rate-limited";
    pending?.recordDismissed(counted ? error.code : undefined);
  } else {
    pending?.recordGivenUp();
  }
  return error;
}

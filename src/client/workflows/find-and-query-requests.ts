import { parseEpochMs } from "../../core/clock.js";
import { createLocalError, type LocalError } from "../../core/files/local-error.js";
import {
  attachJsonText,
  findMemberText,
  JsonText,
  stringifyExact,
  tryParseExact,
} from "../../core/json/exact-json.js";
import { type Data, isFinal, isRequestId, type JsonSchema } from "../../core/protocol/conversation.js";
import { shortenText } from "../../core/text/format-text.js";
import { explainFailure, NoOutputError, RefusedError, ResearchError } from "../calls/errors.js";
import type { CallOptions, StatusData } from "../calls/research-client.js";
import { hasNoResult, isResultCutShort } from "../dialects/providers.js";
import {
  getServiceAddress,
  type HistoryEntry,
  NOT_CREATED,
  type StateSubject,
  sumTokens,
  UNKNOWN,
} from "../store/history/history-records.js";
import type { Account } from "./account.js";
import { NotInHistoryError, UnresolvedCreateError } from "./errors.js";

/** An existing request. `entry`: its record in the history, which is updated with each new state. */
export interface Target {
  requestId: string;
  entry: StateSubject | undefined;
  /** The account to poll for the request: the one that created it, or the one in use. */
  account: Account;
  /** The answer to the create call, if it shows the end. Only this answer may contain the result (contract §9). */
  end?: StatusData | undefined;
}

/** Returns the answer to a create call if it shows the end of the request; otherwise undefined. */
export function readFinalState(data: Data): StatusData | undefined {
  return isFinal(String(data.status)) ? (data as StatusData) : undefined;
}

/** A target that the user named, with its whole entry in the history. */
export interface NamedTarget extends Target {
  entry: HistoryEntry | undefined;
}

/** The name of the newest create call of the account in use, or of any account if none is configured. */
const LAST = "@last";
/** The character with which a table shortens an id. */
const CUT = "…";

/**
 * Finds the request that a text names, and the account to ask about it. The text is a whole id, a unique beginning of
 * an id in the history, or `@last`; a well-formed id need not be in the history. Throws ResearchError `USAGE` or
 * `NOT_FOUND`, the error about a missing setting, or UnresolvedCreateError for a create call whose outcome is unknown.
 */
export function findTarget(account: Account, text: string): NamedTarget {
  const entry = findEntryToSend(account, text);
  const target = entry ? buildTargetOfEntry(entry, text) : { requestId: text, entry: undefined };
  return { ...target, account: account.chooseAccount?.(target.requestId, entry) ?? account };
}

/** Builds an account that sends nothing: each call rejects with `error`, but the history and kept results stay readable. */
export function createUnreachableAccount(
  account: Account,
  entry: HistoryEntry | undefined,
  error: ResearchError,
): Account {
  const { history, clock, outputField, unrecorded } = account;
  const refuse = () => Promise.reject(error);
  return {
    ...{ history, clock, outputField, unrecorded, profile: null, apiKey: "" },
    ...{ origin: entry?.origin ?? account.origin, basePath: entry?.base_path },
    client: {
      ...{ create: refuse, check: refuse, status: refuse, stop: refuse, output: refuse },
      createNoOutputError: (data, requestId) => NoOutputError.of(data, requestId),
      async *watch(source) {
        for await (const id of typeof source === "string" ? [source] : source) {
          const requestId = typeof id === "string" ? id : id.requestId;
          yield { kind: "given-up", requestId, error, status: null, at: clock.now(), elapsedMs: 0 };
        }
      },
    },
  };
}

/** Finds an entry as `findEntry` does, for a command that sends: `@last` then needs a configured account. */
function findEntryToSend(account: Account, text: string): HistoryEntry | undefined {
  if (text === LAST) void account.origin;
  return findEntry(account, text);
}

function buildTargetOfEntry(entry: HistoryEntry, text: string): Omit<NamedTarget, "account"> {
  if (entry.status === NOT_CREATED)
    throw new ResearchError("NOT_FOUND", `${entry.local_id} was recorded as not created`, {
      hint: "`research rerun` submits it again.",
    });
  if (entry.request_id === null || (entry.status === UNKNOWN && text === LAST))
    throw UnresolvedCreateError.of(entry);
  return { requestId: entry.request_id, entry: entry.status === UNKNOWN ? undefined : entry };
}

/** Finds the entry that a text names; undefined for a well-formed id without an entry. Throws ResearchError `USAGE` or `NOT_FOUND`. */
export function findEntry(account: Account, text: string): HistoryEntry | undefined {
  if (text === LAST) {
    const isOwn = (entry: HistoryEntry) => account.isOwn?.(entry) ?? entry.origin === account.origin;
    const newest = account.history?.findNewest(isOwn);
    if (newest) return newest;
    const hasOthers = account.history?.findNewest(() => true) !== undefined;
    throw new ResearchError(
      "NOT_FOUND",
      `@last: no request${hasOthers ? " to the account in use" : ""} is recorded on this machine`,
      { hint: '`research list` shows all requests; `research run "your question"` submits one.' },
    );
  }
  const isCut = text.endsWith(CUT);
  const id = isCut ? text.slice(0, -CUT.length) : text;
  if (!isRequestId(id))
    throw new ResearchError("USAGE", `invalid request id: ${JSON.stringify(text)}`, {
      hint: "An id consists of letters, digits, `.`, `_`, `:` and `-`. `research list` shows the ids of this machine; @last is the newest request.",
    });
  const isHere = (entry: HistoryEntry) => account.isHere?.(entry) ?? entry.origin === account.origin;
  const entries = account.history?.find(id, isHere) ?? [];
  if (isCut && entries.length === 0)
    throw new NotInHistoryError(`no id in the history of this machine begins with ${id}`);
  if (entries.length > 1) {
    const ids = entries.map((entry) => entry.request_id ?? entry.local_id).join(", ");
    throw new ResearchError(
      "USAGE",
      `${JSON.stringify(text)} is the beginning of ${entries.length} ids: ${ids}`,
      { hint: "Type more characters of the id." },
    );
  }
  return entries[0];
}

/** Finds the entry that a text names. Throws NotInHistoryError if there is none, and as `findEntry` does. */
export function requireEntry(account: Account, text: string): HistoryEntry {
  const entry = findEntry(account, text);
  if (entry) return entry;
  // Throw the reason if the history cannot be read.
  account.history?.list({ limit: 1 });
  throw new NotInHistoryError(`${text} is not in the history of this machine`);
}

/** Returns the provider's id for a follow-up to a request. Rejects as `findTarget` and the client do, or with `USAGE`. */
export async function findFollowUpId(
  account: Account,
  text: string,
  { signal, isOffline = false }: CallOptions & { isOffline?: boolean | undefined },
): Promise<string> {
  const sentEntry = findEntryToSend(account, text);
  const { requestId, entry } = sentEntry ? buildTargetOfEntry(sentEntry, text) : { requestId: text };
  const refusal = sentEntry ? undefined : account.explainRefusal?.(requestId, sentEntry);
  if (refusal) throw refusal;
  if (entry && !isCreatedAtService(entry, account))
    throw new ResearchError(
      "USAGE",
      `invalid value for --after: ${requestId} was created at ${getServiceAddress(entry)} and not at ${account.origin}`,
      {
        hint: "A follow-up must go to the service that created the request: name it with --profile or --base-url.",
      },
    );
  const field = account.provider?.followUpField;
  if (field === undefined) return requestId;
  const value =
    entry?.[field] ?? (isOffline ? undefined : (await account.client.status(requestId, { signal }))[field]);
  if (typeof value === "string") return value;
  throw new ResearchError("USAGE", `a follow-up needs the ${field} of ${requestId}, which is not known`);
}

/** Returns whether a request was created at the service of this account. */
export function isCreatedAtService(
  entry: Pick<HistoryEntry, "origin" | "base_path">,
  { origin, basePath = "" }: Pick<Account, "origin" | "basePath">,
): boolean {
  return getServiceAddress(entry) === origin + basePath;
}

/** Returns when this machine recorded a request, in epoch ms; 0 for a request of another service, undefined without a record. */
export function findRecordedAt({ entry, account }: Target): number | undefined {
  return entry && !isCreatedAtService(entry, account) ? 0 : parseEpochMs(entry?.sent_at);
}

/** Extends a 404 for a request of another service or account by what that is and how to name it. Returns other errors unchanged. */
export function explainForeign404(error: unknown, { requestId, entry, account }: Target): unknown {
  if (!(error instanceof RefusedError) || error.kind !== "not-found" || !entry) return error;
  const isOthers = typeof entry.profile === "string" && entry.profile !== account.profile;
  if (isCreatedAtService(entry, account) && !isOthers) return error;
  const service = getServiceAddress(entry);
  const { profile } = entry;
  return new RefusedError(
    "not-found",
    error.enveloped,
    error.code,
    `${error.message.replace(/\.$/, "")}: ${requestId} was created at ${service}${
      account.origin === service ? ` with profile ${profile}` : ` and not at ${account.origin}`
    }; ${account.describeWay?.(entry) ?? `add ${profile ? `--profile ${profile}` : `--base-url ${service}`}`}`,
    { ...error, hint: undefined },
  );
}

/** The service's answer about one request, or the error instead. */
export type StateResult =
  /** `notObserved`: why the state could not be recorded in the history. */
  | { kind: "answered"; target: Target; data: StatusData; notObserved: LocalError | undefined }
  | { kind: "failed"; target: Target; error: unknown };

/** Requests the states of all targets in parallel. Resolves with one answer for each, in their order. Rejects only with `signal.reason`. */
export async function fetchStates(
  targets: readonly Target[],
  { signal }: CallOptions = {},
): Promise<StateResult[]> {
  const asked = targets.map(async (target): Promise<StateResult> => {
    const { requestId, entry, account } = target;
    try {
      const recordedAt = findRecordedAt(target);
      const state = await account.client.status(requestId, { signal, recordedAt });
      const data = parseStructuredOutput(state, entry?.output_schema);
      return { kind: "answered", target, data, notObserved: recordState(target, data) };
    } catch (error) {
      return { kind: "failed", target, error: explainForeign404(error, target) };
    }
  });
  const answers = await Promise.all(asked);
  signal?.throwIfAborted();
  return answers;
}

/** Stops requests one after the other, and goes on after a failure. Throws `signal.reason` after an abort. */
export async function* stopRequests(
  targets: readonly Target[],
  { signal }: CallOptions = {},
): AsyncGenerator<StateResult, void> {
  for (const target of targets) {
    signal?.throwIfAborted();
    try {
      let notObserved: LocalError | undefined;
      // Even a refused stop reports a state.
      const onState = (state: StatusData) => {
        notObserved = recordState(target, state);
      };
      const data = await stopRequest(target, { signal, onState });
      yield { kind: "answered", target, data, notObserved };
    } catch (error) {
      signal?.throwIfAborted();
      yield { kind: "failed", target, error: explainForeign404(error, target) };
    }
  }
}

/** How long to wait until a service has finished a stop that it began, and the interval of polls, in milliseconds. */
const STOP_MS = 16_000;
const ASK_MS = 1_000;

/** Stops a request. If the service has only begun to stop it, polls until the state is final. Rejects if that is not STOPPED. */
async function stopRequest(
  { requestId, account: { client, clock } }: Target,
  { signal, onState }: CallOptions & { onState: (state: StatusData) => void },
): Promise<StatusData> {
  let state = await client.stop(requestId, { signal, onState });
  const end = clock.monotonic() + STOP_MS;
  while (!isFinal(state.status) && clock.monotonic() < end) {
    await clock.sleep(ASK_MS, signal);
    state = await client.status(requestId, { signal });
    onState(state);
  }
  const { status, provider_status: word } = state;
  if (status === "STOPPED") return state;
  // §4.2 says that the state is STOPPED; a provider may take longer.
  const code = word === undefined || isFinal(status) ? "BAD_RESPONSE" : "NOT_FINISHED";
  throw new ResearchError(code, `the service accepted the stop, but ${requestId} is ${status}`, {
    requestId,
  });
}

/** Parses the result in a provider's data if the request has a schema, because a model writes the value as text. */
export function parseStructuredOutput<D extends Data>(data: D, schema: JsonSchema | null | undefined): D {
  if (!schema || data.provider_status === undefined || typeof data.output !== "string") return data;
  const value = tryParseExact(data.output);
  if (value === undefined) return data;
  const { output } = data;
  const exact = Object.keys(data).map((name) => [
    name,
    name === "output" ? new JsonText(output) : findMemberText(data, name),
  ]);
  return attachJsonText({ ...data, output: value }, stringifyExact(Object.fromEntries(exact)));
}

/** Maximum length of a message in the history, in UTF-16 units. */
const MESSAGE_LENGTH = 500;

/** Keeps the data of a provider's answer if it has the result, because the provider may delete the result. Throws LocalError. */
export function keepProviderResult(
  history: Account["history"],
  { request_id: id, ...entry }: StateSubject,
  data: Data,
): void {
  const isResult = data.provider_status !== undefined && (data.output !== undefined || hasNoResult(data));
  if (!isResult || id === null) return;
  history?.keep(history.results, { ...entry, request_id: id }, stringifyExact(data));
}

/** Records a state in the history, and keeps the result. Returns the error if that failed; the caller goes on. */
export function recordState(
  { entry, account }: Pick<Target, "entry" | "account">,
  data: StatusData,
): LocalError | undefined {
  if (!entry || !isCreatedAtService(entry, account)) return undefined;
  const { history } = account;
  try {
    const { status, cost_dollars: cost } = data;
    const hasCost = typeof cost === "number" && isFinal(status);
    const why =
      status === "FAILED" ? (explainFailure(data) ?? data.message) : status === "STOPPED" && data.message;
    const end = {
      ...(isResultCutShort(data) && { cut_short: true }),
      ...(typeof why === "string" && { message: shortenText(why, MESSAGE_LENGTH) }),
    };
    history?.observe(entry, status, {
      ...end,
      ...(hasCost && { cost_dollars: cost }),
      ...(isFinal(status) && { tokens: sumTokens(data.usage) }),
    });
    Object.assign(entry, { status }, end);
    if (isFinal(status)) keepProviderResult(history, entry, data);
    return undefined;
  } catch (error) {
    return createLocalError(`the state could not be kept in ${history?.folder}`, error);
  }
}

import { parseEpoch } from "../../core/clock.js";
import { createLocalError, type LocalError } from "../../core/files/local-error.js";
import {
  attachSource,
  findMemberText,
  JsonText,
  readJsonPath,
  stringifyExact,
} from "../../core/json/exact-json.js";
import { type Data, isFinal, isRequestId, type JsonSchema } from "../../core/protocol/conversation.js";
import { shortenText } from "../../core/text/phrases.js";
import type { CallOptions, StatusData } from "../calls/client.js";
import { explainFailed, NoOutputError, RefusedError, ResearchError } from "../calls/errors.js";
import { hasNoResult, isCutShort } from "../dialects/providers.js";
import {
  getService,
  type HistoryEntry,
  NOT_CREATED,
  readTokens,
  type Seen,
  UNKNOWN,
} from "../store/history/records.js";
import type { Account } from "./account.js";
import { NotInHistoryError, UnresolvedCreateError } from "./errors.js";

/** A request that exists. `entry` is its record in the history, updated with each state seen. */
export interface Target {
  requestId: string;
  entry: Seen | undefined;
  /** The account that is asked for it: the one that created it, or the one in use. */
  account: Account;
  /** The response to the create, if it shows the end: only this response may hold the result (contract §9). */
  end?: StatusData | undefined;
}

/** Returns the answer to a create if it shows the end; undefined if it does not. */
export function endIn(data: Data): StatusData | undefined {
  return isFinal(String(data.status)) ? (data as StatusData) : undefined;
}

/** A target that the user named, with its whole entry. */
export interface NamedTarget extends Target {
  entry: HistoryEntry | undefined;
}

/** Names the newest create of the account in use, or of any account if none is configured. */
const LAST = "@last";
/** The mark with which a table abbreviates an id. */
const CUT = "…";

/**
 * The request that a text names, and the account that is asked for it: a whole id, a unique prefix of one in the
 * history, or `@last`. A well-formed id that is not in the history names itself. Throws ResearchError `USAGE` or
 * `NOT_FOUND`, the error that says what is not configured, or UnresolvedCreateError if the text names a create whose outcome is unknown.
 */
export function resolveTarget(account: Account, text: string): NamedTarget {
  const entry = findSent(account, text);
  const target = entry ? readRecord(entry, text) : { requestId: text, entry: undefined };
  return { ...target, account: account.chooseAccount?.(target.requestId, entry) ?? account };
}

/** Builds an account that sends nothing: each call fails with `error`, but the history and kept results stay readable. */
export function explainUnasked(
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

/** Finds an entry as findEntry does, for a command that sends: `@last` needs an account in use. */
function findSent(account: Account, text: string): HistoryEntry | undefined {
  if (text === LAST) void account.origin;
  return findEntry(account, text);
}

function readRecord(entry: HistoryEntry, text: string): Omit<NamedTarget, "account"> {
  if (entry.status === NOT_CREATED)
    throw new ResearchError("NOT_FOUND", `${entry.local_id} is settled as never created`, {
      hint: "`research rerun` sends it.",
    });
  if (entry.request_id === null || (entry.status === UNKNOWN && text === LAST))
    throw UnresolvedCreateError.of(entry);
  return { requestId: entry.request_id, entry: entry.status === UNKNOWN ? undefined : entry };
}

/** Finds the entry that a text names; undefined for a well-formed id that is not in the history. Throws ResearchError `USAGE` or `NOT_FOUND`. */
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
      hint: "An id is made of letters, digits, `.`, `_`, `:` and `-`; `research list` shows those made here, @last is the newest.",
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
      { hint: "Give more of it." },
    );
  }
  return entries[0];
}

/** Finds the entry that a text names, and throws if the history has no such entry. */
export function requireEntry(account: Account, text: string): HistoryEntry {
  const entry = findEntry(account, text);
  if (entry) return entry;
  // Throws if the history may not be read.
  account.history?.list({ limit: 1 });
  throw new NotInHistoryError(`${text} is not in the history of this machine`);
}

/** Returns the provider's id for a follow-up to a request. Rejects as resolveTarget, as the client, or with `USAGE`. */
export async function followUpOf(
  account: Account,
  text: string,
  { signal, isOffline = false }: CallOptions & { isOffline?: boolean | undefined },
): Promise<string> {
  const sentEntry = findSent(account, text);
  const { requestId, entry } = sentEntry ? readRecord(sentEntry, text) : { requestId: text };
  const refusal = sentEntry ? undefined : account.explainRefusal?.(requestId, sentEntry);
  if (refusal) throw refusal;
  if (entry && !isAt(entry, account))
    throw new ResearchError(
      "USAGE",
      `invalid value for --after: ${requestId} was created at ${getService(entry)} and not at ${account.origin}`,
      {
        hint: "A follow-up is asked of the service that made the request: name it by --profile or --base-url.",
      },
    );
  const field = account.provider?.followUpField;
  if (field === undefined) return requestId;
  const value =
    entry?.[field] ?? (isOffline ? undefined : (await account.client.status(requestId, { signal }))[field]);
  if (typeof value === "string") return value;
  throw new ResearchError("USAGE", `the ${field} of ${requestId} is not known, which a follow-up needs`);
}

/** Whether a request was created at this service. */
export function isAt(
  entry: Pick<HistoryEntry, "origin" | "base_path">,
  { origin, basePath = "" }: Pick<Account, "origin" | "basePath">,
): boolean {
  return getService(entry) === origin + basePath;
}

/** When this machine recorded a request, epoch ms; 0 for one of another service, undefined for one not in the history. */
export function findRecordedAt({ entry, account }: Target): number | undefined {
  return entry && !isAt(entry, account) ? 0 : parseEpoch(entry?.sent_at);
}

/** Adds the origin and the flag to a 404 for a request that another service or account created; returns other errors unchanged. */
export function addOrigin(error: unknown, { requestId, entry, account }: Target): unknown {
  if (!(error instanceof RefusedError) || error.kind !== "not-found" || !entry) return error;
  const isOthers = typeof entry.profile === "string" && entry.profile !== account.profile;
  if (isAt(entry, account) && !isOthers) return error;
  const service = getService(entry);
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

/** The service's response about one request, or the error in its place. */
export type StateAnswer =
  /** `notObserved`: why the state could not be kept in the history. */
  | { kind: "answered"; target: Target; data: StatusData; notObserved: LocalError | undefined }
  | { kind: "failed"; target: Target; error: unknown };

/** Requests all states in parallel; yields one response for each, in the given order. Rejects only with `signal.reason`. */
export async function askStates(
  targets: readonly Target[],
  { signal }: CallOptions = {},
): Promise<StateAnswer[]> {
  const asked = targets.map(async (target): Promise<StateAnswer> => {
    const { requestId, entry, account } = target;
    try {
      const recordedAt = findRecordedAt(target);
      const state = await account.client.status(requestId, { signal, recordedAt });
      const data = parseAsAsked(state, entry?.output_schema);
      return { kind: "answered", target, data, notObserved: observe(target, data) };
    } catch (error) {
      return { kind: "failed", target, error: addOrigin(error, target) };
    }
  });
  const answers = await Promise.all(asked);
  signal?.throwIfAborted();
  return answers;
}

/** Stops requests one after the other, and goes on after a failure. Throws `signal.reason`. */
export async function* stopAll(
  targets: readonly Target[],
  { signal }: CallOptions = {},
): AsyncGenerator<StateAnswer, void> {
  for (const target of targets) {
    signal?.throwIfAborted();
    try {
      let notObserved: LocalError | undefined;
      // Even a refused stop reports the state.
      const onState = (state: StatusData) => {
        notObserved = observe(target, state);
      };
      const data = await stopRequest(target, { signal, onState });
      yield { kind: "answered", target, data, notObserved };
    } catch (error) {
      signal?.throwIfAborted();
      yield { kind: "failed", target, error: addOrigin(error, target) };
    }
  }
}

/** How long to wait for a service that has begun to stop a request, and the poll interval, in milliseconds. */
const STOP_MS = 16_000;
const ASK_MS = 1_000;

/** Stops a request. The response says STOPPED (§4.2); if the service has only begun to stop, polls for the final state. */
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
  // §4.2 says that it is STOPPED; a provider may take longer.
  const code = word === undefined || isFinal(status) ? "BAD_RESPONSE" : "NOT_FINISHED";
  throw new ResearchError(code, `the service accepted the stop, but ${requestId} is ${status}`, {
    requestId,
  });
}

/** Parses the result in a provider's data as its schema asks, since a model writes the value as text. */
export function parseAsAsked<D extends Data>(data: D, schema: JsonSchema | null | undefined): D {
  if (!schema || data.provider_status === undefined || typeof data.output !== "string") return data;
  const value = readJsonPath(data.output);
  if (value === undefined) return data;
  const { output } = data;
  const exact = Object.keys(data).map((name) => [
    name,
    name === "output" ? new JsonText(output) : findMemberText(data, name),
  ]);
  return attachSource({ ...data, output: value }, stringifyExact(Object.fromEntries(exact)));
}

/** The longest message that the history keeps whole, in UTF-16 units. */
const MESSAGE_LENGTH = 500;

/** Keeps the result in a provider's response, or the data in its place, since the provider may delete it. Throws LocalError. */
export function keepResult(
  history: Account["history"],
  { request_id: id, ...entry }: Seen,
  data: Data,
): void {
  const isResult = data.provider_status !== undefined && (data.output !== undefined || hasNoResult(data));
  if (!isResult || id === null) return;
  history?.keep(history.results, { ...entry, request_id: id }, stringifyExact(data));
}

/** Keeps a state and its result in the history. Returns the error if that failed; the caller goes on. */
export function observe(
  { entry, account }: Pick<Target, "entry" | "account">,
  data: StatusData,
): LocalError | undefined {
  if (!entry || !isAt(entry, account)) return undefined;
  const { history } = account;
  try {
    const { status, cost_dollars: cost } = data;
    const hasCost = typeof cost === "number" && isFinal(status);
    const why =
      status === "FAILED" ? (explainFailed(data) ?? data.message) : status === "STOPPED" && data.message;
    const end = {
      ...(isCutShort(data) && { cut_short: true }),
      ...(typeof why === "string" && { message: shortenText(why, MESSAGE_LENGTH) }),
    };
    history?.observe(entry, status, {
      ...end,
      ...(hasCost && { cost_dollars: cost }),
      ...(isFinal(status) && { tokens: readTokens(data.usage) }),
    });
    Object.assign(entry, { status }, end);
    if (isFinal(status)) keepResult(history, entry, data);
    return undefined;
  } catch (error) {
    return createLocalError(`the state could not be kept in ${history?.folder}`, error);
  }
}

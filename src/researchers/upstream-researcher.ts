import { type Clock, onAbort, runWithDeadline } from "../core/clock.js";
import type { JsonSchema } from "../core/protocol/conversation.js";
import {
  type Researcher,
  type ResearcherFacts,
  ResearchFailure,
  type ResearchJob,
} from "../core/researcher.js";
import { Semaphore } from "../core/semaphore.js";
import { formatIsoDate } from "../core/text/time-format.js";
import {
  type Claim,
  ConversationStopped,
  type DayLimit,
  Released,
  type RemoteRequests,
  ServiceClosing,
  StoreError,
} from "../server/conversations/conversation-store.js";
import { type Log, TroubleLog } from "../server/monitoring/operator-log.js";

/** What happened to the create request of a conversation at the upstream service. */
export type UpstreamCreate =
  /** The service has created a request. If `onId` was not called, the id of the request is unknown. */
  | { kind: "created" }
  /** The service created nothing, because it does not accept this question. */
  | { kind: "refused"; why: string }
  /** The service created nothing and would refuse other questions as well; see `CreateAnswer`. `retryAfterMs`: from `Retry-After`. */
  | { kind: "limit" | "account"; why: string; retryAfterMs?: number | undefined }
  /** The signal was aborted before any byte was sent, so nothing was created. */
  | { kind: "unsent" }
  /** The service may have created a request. */
  | { kind: "unknown"; why: string };

/** The end of a request at the upstream service. `data` is merged into the data of our output. */
export type UpstreamResult =
  | { status: "COMPLETED"; output: unknown; data: Record<string, unknown> }
  | { status: "FAILED"; why: string; data: Record<string, unknown> };

/** A service that does the research. The server must not import the client, so the caller passes an adapter of this type. */
export interface Upstream {
  /** The origin of the service. */
  readonly at: string;
  /** The display name of the service. */
  readonly provider: string;
  readonly canStop: boolean;
  readonly facts?: ResearcherFacts;
  /** The most create requests in 24 hours. `words` names the account and who set the limit. */
  readonly day?: DayLimit & { words: string };
  /** Sends one create request. Never repeats one that may have arrived. Calls `onId` as soon as the id is known. */
  create(job: ResearchJob, signal: AbortSignal, onId: (remoteId: string) => void): Promise<UpstreamCreate>;
  /** Waits for the result, however long the service is unreachable. `schema` is the requested form. Rejects only with `signal.reason`. */
  end(remoteId: string, signal: AbortSignal, schema?: JsonSchema): Promise<UpstreamResult>;
  /** Stops a request. Rejects with the reason unless the request is known to have ended. */
  stop(remoteId: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  upstream: Upstream;
  remote: RemoteRequests;
  /** How many conversations of one key may wait while a limit is in force. */
  atOnce: number;
  clock: Clock;
  log: Log;
}

/** The most create requests, and the most cancellations, at the same time. */
const CREATES = 4;
/** The interval between two tries to reach the store, or to find an id that another process may still store, ms. */
const RETRY_MS = 500;
/** How long a closing service tries to store the outcome of a create request, ms. */
const LAST_TRIES_MS = 10_000;
/** The interval between two checks for cancellations, ms. */
const LOOK_MS = 1_000;
/** The interval between two searches for conversations that waited too long, ms. */
const SWEEP_MS = 30_000;
/** The timeout of one cancellation, ms, because the upstream service may never answer. Other processes skip the cancellation for this long. */
const CANCEL_MS = 15_000;

/** Creates a researcher that sends each conversation to an upstream service once. If the outcome is unknown, the conversation is FAILED. */
export function createUpstreamResearcher({
  upstream,
  remote,
  atOnce,
  clock,
  log,
}: UpstreamOptions): Researcher {
  const { at, provider, canStop } = upstream;
  const creates = new Semaphore(CREATES);
  /** The claims for which a create request may be sent, each with the function that frees its place. */
  const sending = new WeakMap<Claim, () => void>();
  const troubles = new TroubleLog(log, clock);
  const creating = `creates at ${provider}`;
  const closing = new AbortController();
  const cancelling = Promise.all([cancelAll(), sweep()]);

  return {
    ...(upstream.facts && { facts: upstream.facts }),
    async research(job, signal, tell, claim) {
      if (claim === undefined) throw new Error("an upstream request needs a claim");
      const ended = await upstream.end(await readRemoteId(job, signal, claim), signal, job.output_schema);
      tell?.(ended.data);
      if (ended.status === "FAILED") throw new ResearchFailure(ended.why);
      return ended.output;
    },
    claims: [
      { claim: (signal) => remote.claim("begun", signal), resumed: true },
      { claim: claimNew, resumed: false },
    ],
    takesMisfits: true,
    async close() {
      closing.abort(new ServiceClosing("the service is closing"));
      await cancelling;
      await upstream.close();
    },
  };

  /** Waits for a place before each claim, so that waiting conversations and later ones take turns. */
  async function claimNew(signal: AbortSignal): Promise<Claim> {
    const release = await creates.acquire(signal);
    try {
      const claim = await remote.claim("new", signal);
      sending.set(claim, release);
      return claim;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Returns the id of the conversation's upstream request. Creates the request if that was never tried. */
  async function readRemoteId(job: ResearchJob, signal: AbortSignal, claim: Claim): Promise<string> {
    const release = sending.get(claim);
    try {
      const remoteId = release && (await sendOnce(job, signal, claim));
      if (remoteId !== undefined) return remoteId;
    } finally {
      release?.();
    }
    for (;;) {
      const remoteEntry = await waitForStore(() => remote.read(job.request_id), signal);
      if (remoteEntry === undefined) {
        // Another process began to create the request, and the upstream service created none.
        await waitForStore(() => remote.release(claim), signal);
        throw new Released();
      }
      if (remoteEntry.at !== at) {
        const message = `it runs at ${remoteEntry.provider} (${remoteEntry.at}), but this service uses ${at}; the conversation waits for a service that uses the first account`;
        log(message, { level: "warning", request_id: job.request_id });
        // Wait for ever (2 ** 52 ms): another process may be started for that upstream service.
        await clock.sleep(2 ** 52, signal);
      } else if (remoteEntry.remoteId !== undefined) return remoteEntry.remoteId;
      else if (remoteEntry.mayComeMs <= 0) throw createUnknownThere(job, "the process ended in between");
      await clock.sleep(RETRY_MS, signal);
    }
  }

  /** Creates the upstream request and returns its id; undefined if this claim must not create one. */
  async function sendOnce(job: ResearchJob, signal: AbortSignal, claim: Claim): Promise<string | undefined> {
    const begun = await waitForStore(
      () => remote.begin(claim, { at, provider, canStop }, upstream.day),
      signal,
    );
    if (begun === false) return undefined;
    const releaseClaim = async (reason?: string) => {
      await writeToStore(
        () => remote.release(claim, reason),
        signal,
        `the reason for which ${job.request_id} waits`,
      );
      signal.throwIfAborted();
      return new Released();
    };
    if (signal.aborted) throw await releaseClaim();
    let keeping: Promise<string> | undefined;
    const result: UpstreamCreate =
      begun === true
        ? await upstream.create(job, createClosingSignal(signal), (id) => {
            keeping ??= keep(claim, id, signal);
          })
        : { kind: "limit", why: describeFullDay(begun.fullMs), retryAfterMs: begun.fullMs };
    const { why, retryAfterMs } = { why: "its id is missing", retryAfterMs: undefined, ...result };
    const reason = `${provider}: ${why}`;
    const kind = keeping === undefined ? result.kind : "created";
    if (kind === "created" || kind === "refused") {
      troubles.noteRecovery(creating);
      await remote
        .noteAnswered(claim, { kind: "open", isRefused: kind === "refused" })
        .catch(rethrowUnlessStoreError);
    } else if (kind !== "unsent") {
      await remote.noteAnswered(claim, { kind, reason, retryAfterMs, atOnce }).catch(rethrowUnlessStoreError);
      troubles.noteFailure(creating, why, { request_id: job.request_id });
    }
    if (keeping !== undefined) {
      const remoteId = await keeping;
      signal.throwIfAborted();
      return remoteId;
    }
    if (kind === "refused") {
      if (signal.aborted) await releaseClaim(reason);
      throw new ResearchFailure(reason);
    }
    if (kind === "limit" || kind === "account" || kind === "unsent")
      throw await releaseClaim(kind === "unsent" ? undefined : reason);
    // For a stopped conversation, `sweep` logs that the outcome is unknown.
    if (signal.reason instanceof ConversationStopped) throw signal.reason;
    throw createUnknownThere(job, why);
  }

  function describeFullDay(forMs: number): string {
    const until = formatIsoDate(clock.now() + forMs);
    return `the limit of ${upstream.day?.most} creates in 24 hours at ${upstream.day?.words}, is used up until ${until}`;
  }

  /** Stores the id of a paid request. If the process ends while the store is unreachable, the id is logged instead. */
  async function keep(claim: Claim, remoteId: string, signal: AbortSignal): Promise<string> {
    const { request_id } = claim.job;
    const what = `the id ${remoteId}, which ${provider} created,`;
    const kept = await writeToStore(() => remote.keep(claim, remoteId), signal, what, { request_id });
    if (kept === "ended")
      log(`${provider} has created ${remoteId} for a conversation that had ended`, { request_id });
    return remoteId;
  }

  /** Repeats a write until the store is reachable. A closing process gives up after ten seconds and logs `what`, once. */
  async function writeToStore<T>(
    write: () => Promise<T>,
    signal: AbortSignal,
    what: string,
    facts?: { request_id: string },
  ): Promise<T | undefined> {
    for (let endsAt: number | undefined; ; await clock.sleep(RETRY_MS)) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (signal.reason instanceof ServiceClosing) endsAt ??= clock.monotonic() + LAST_TRIES_MS;
        if (endsAt === undefined || clock.monotonic() < endsAt) continue;
        log(`${what} could not be stored: ${error.message}`, facts);
        return undefined;
      }
    }
  }

  /** Ends conversations that waited too long. Logs stopped ones if the outcome of their create request is unknown. */
  async function sweep(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      await remote.expire().catch(() => {});
      const lost = await remote.takeLost().catch(() => undefined);
      if (lost === undefined) {
        await clock.sleep(SWEEP_MS, signal).catch(() => {});
        continue;
      }
      const why = "was stopped while its create was sent: it is not known whether it exists at";
      const facts = { level: "warning", request_id: lost.requestId } as const;
      log(`${lost.requestId} ${why} ${lost.provider}`, facts);
    }
  }

  function createUnknownThere({ request_id }: ResearchJob, why: string): ResearchFailure {
    const now = new Date(clock.now()).toISOString();
    const what = `the create for ${request_id} was sent and its answer was not read (${why}; ${now})`;
    const reason = `It is not known whether it exists at ${provider}: ${what}.`;
    log(reason, { request_id });
    return new ResearchFailure(reason);
  }

  /** Stops the upstream requests of conversations that were stopped here. Retries until the service answers. */
  async function cancelAll(): Promise<void> {
    const { signal } = closing;
    const { signal: never } = new AbortController();
    const late = new Error(`no answer within ${CANCEL_MS / 1_000} s`);
    const places = new Semaphore(CREATES);
    const running = new Set<Promise<void>>();
    while (!signal.aborted) {
      const cancellation = await remote.takeCancellation(at, CANCEL_MS).catch(() => undefined);
      if (cancellation === undefined) {
        await clock.sleep(LOOK_MS, signal).catch(() => {});
        continue;
      }
      const release = await places.acquire(signal).catch(() => () => {});
      const cancel = async () => {
        const { requestId, remoteId } = cancellation;
        const what = `stops of requests at ${provider}`;
        const facts = { level: "warning", request_id: requestId } as const;
        try {
          if (canStop)
            await runWithDeadline(clock, CANCEL_MS, never, late, (tried) => upstream.stop(remoteId, tried));
          else log(`${remoteId} goes on at ${provider} and is paid for: it has no way to stop`, facts);
          await remote.noteCancelled(requestId);
          troubles.noteRecovery(what);
        } catch (error) {
          troubles.noteFailure(what, error, { request_id: requestId });
        }
        release();
      };
      const cancelling: Promise<void> = cancel().finally(() => running.delete(cancelling));
      running.add(cancelling);
    }
    await Promise.all(running);
  }

  /** Repeats a request to the store until the store is reachable. */
  async function waitForStore<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** Returns a signal that is aborted only when the process ends. Nothing else may interrupt a create request, because it may cost money. */
function createClosingSignal(signal: AbortSignal): AbortSignal {
  const closing = new AbortController();
  onAbort(signal, () => {
    if (signal.reason instanceof ServiceClosing) closing.abort(signal.reason);
  });
  return closing.signal;
}

function rethrowUnlessStoreError(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}

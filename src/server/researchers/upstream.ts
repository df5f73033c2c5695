import { type Clock, onAbort, withDeadline } from "../../clock.js";
import { Semaphore } from "../../semaphore.js";
import {
  type Claim,
  type RemoteRequests,
  ServiceClosing,
  StoreError,
} from "../conversations/conversation-store.js";
import { type Log, Troubles } from "../monitoring/log.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "./researcher.js";

/** What became of the one create of a conversation. */
export type Sent =
  | { kind: "created" }
  /** Nothing was created. `isOurs`: no other question would have been taken either. */
  | { kind: "refused"; why: string; isOurs: boolean }
  /** It may exist. */
  | { kind: "unknown"; why: string };

/** How a request at another service ended; `data` goes into the data of our output. */
export type EndedThere =
  | { status: "COMPLETED"; output: unknown; data: Record<string, unknown> }
  | { status: "FAILED"; why: string; data: Record<string, unknown> };

/** Another service that does the research. The server knows no client: one is handed in as this. */
export interface Upstream {
  /** Its origin. */
  readonly at: string;
  /** What people call it. */
  readonly provider: string;
  readonly canStop: boolean;
  /** Sends one create, and never a second one that may have arrived. `onId` is called as soon as its id is known. */
  create(job: ResearchJob, signal: AbortSignal, onId: (remoteId: string) => void): Promise<Sent>;
  /** Waits for the end, however long that place is away. Rejects with `signal.reason` alone. */
  end(remoteId: string, signal: AbortSignal): Promise<EndedThere>;
  /** Rejects with an error whose message says why, if it is not known that nothing runs any more. */
  stop(remoteId: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  upstream: Upstream;
  remote: RemoteRequests;
  clock: Clock;
  log: Log;
}

/** Creates that may be under way at a time. */
const CREATES = 4;
/** Between two tries to reach the store or a cancelled claim's end, ms. */
const RETRY_MS = 500;
/** How long an id that was paid for is tried to be kept when the service closes, ms. */
const LAST_TRIES_MS = 10_000;
/** Between two looks for cancellations or at refusals, ms. */
const LOOK_MS = 1_000;
/** How long one try of a cancellation may take, and is hidden from others, ms: that place may never answer. */
const CANCEL_MS = 15_000;

/**
 * Has another service do the research: each conversation is one request there, sent once, whatever becomes of this
 * process. What cannot be known is FAILED and says so.
 */
export function upstreamResearcher({ upstream, remote, clock, log }: UpstreamOptions): Researcher {
  const { at, provider, canStop } = upstream;
  const creates = new Semaphore(CREATES);
  const troubles = new Troubles(log);
  const creating = `creates at ${provider}`;
  const closing = new AbortController();
  const cancelling = cancelAll();

  return {
    async research(job, signal, tell, claim) {
      if (claim === undefined) throw new Error("a request elsewhere needs a claim");
      const ended = await upstream.end(await remoteIdOf(job, signal, claim), signal);
      tell?.(ended.data);
      if (ended.status === "FAILED") throw new ResearchFailure(ended.why);
      return ended.output;
    },
    takesMisfits: true,
    async close() {
      closing.abort(new ServiceClosing("the service is closing"));
      await cancelling;
      await upstream.close();
    },
  };

  /** The id of the conversation's request there, which is sent now if it never was. */
  async function remoteIdOf(job: ResearchJob, signal: AbortSignal, claim: Claim): Promise<string> {
    for (;;) {
      const known = await stored(() => remote.read(job.request_id), signal);
      if (known === undefined) {
        const remoteId = await sent(job, signal, claim);
        if (remoteId !== undefined) return remoteId;
      } else if (known.at !== at) {
        const message = `it runs at ${known.provider} (${known.at}), and this service is for ${at}: it waits for one that is not`;
        log(message, { level: "warning", request_id: job.request_id });
        // Longer than any process lives: another one may be started for that place.
        await clock.sleep(2 ** 52, signal);
      } else if (known.remoteId !== undefined) return known.remoteId;
      else if (known.mayComeMs <= 0) throw unknownThere(job, "the service was lost in between");
      await clock.sleep(RETRY_MS, signal);
    }
  }

  /** Undefined if this claim may not send it. */
  async function sent(job: ResearchJob, signal: AbortSignal, claim: Claim): Promise<string | undefined> {
    const release = await creates.take(signal);
    try {
      while ((await stored(() => remote.busyMs("create"), signal)) > 0) await clock.sleep(LOOK_MS, signal);
      if (!(await stored(() => remote.begin(claim, { at, provider, canStop }), signal))) return undefined;
      signal.throwIfAborted();
      let keeping: Promise<string> | undefined;
      const result = await upstream.create(job, onlyClosing(signal), (id) => {
        keeping ??= keep(claim, id, signal);
      });
      if (keeping !== undefined) {
        troubles.over(creating);
        await remote.answered(false).catch(unlessOfStore);
        const remoteId = await keeping;
        signal.throwIfAborted();
        return remoteId;
      }
      if (result.kind === "refused") {
        if (result.isOurs) {
          await remote.answered(true).catch(unlessOfStore);
          troubles.failed(creating, result.why, { request_id: job.request_id });
        }
        throw new ResearchFailure(`${provider}: ${result.why}`);
      }
      throw unknownThere(job, result.kind === "unknown" ? result.why : "its id is missing");
    } finally {
      release();
    }
  }

  /** An id that was paid for is kept, however long the store is away; a process that ends says the id at last. */
  async function keep(claim: Claim, remoteId: string, signal: AbortSignal): Promise<string> {
    const { request_id } = claim.job;
    for (let endsAt: number | undefined; ; await clock.sleep(RETRY_MS)) {
      try {
        const kept = await remote.keep(claim, remoteId);
        if (kept === "ended")
          log(`${provider} has created ${remoteId} for a conversation that had ended`, { request_id });
        return remoteId;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (signal.reason instanceof ServiceClosing) endsAt ??= clock.monotonic() + LAST_TRIES_MS;
        if (endsAt === undefined || clock.monotonic() < endsAt) continue;
        log(`${provider} has created ${remoteId}, which could not be kept: ${error.message}`, { request_id });
        return remoteId;
      }
    }
  }

  function unknownThere({ request_id }: ResearchJob, why: string): ResearchFailure {
    const now = new Date(clock.now()).toISOString();
    const what = `the create for ${request_id} was sent and its answer was not read (${why}; ${now})`;
    const reason = `It is not known whether it exists at ${provider}: ${what}.`;
    log(reason, { request_id });
    return new ResearchFailure(reason);
  }

  /** Stops there what was stopped here, again and again until that place has answered. */
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
      const release = await places.take(signal).catch(() => () => {});
      const cancel = async () => {
        const { requestId, remoteId } = cancellation;
        const what = `stops of requests at ${provider}`;
        const facts = { level: "warning", request_id: requestId } as const;
        try {
          if (canStop)
            await withDeadline(clock, CANCEL_MS, never, late, (tried) => upstream.stop(remoteId, tried));
          else log(`${remoteId} goes on at ${provider} and is paid for: it has no way to stop`, facts);
          await remote.cancelled(requestId);
          troubles.over(what);
        } catch (error) {
          troubles.failed(what, error, { request_id: requestId });
        }
        release();
      };
      const one: Promise<void> = cancel().finally(() => running.delete(one));
      running.add(one);
    }
    await Promise.all(running);
  }

  /** Asks the store until it answers. */
  async function stored<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
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

/** A create is aborted by nothing but the end of the process: what it has paid for must be known. */
function onlyClosing(signal: AbortSignal): AbortSignal {
  const closing = new AbortController();
  onAbort(signal, () => {
    if (signal.reason instanceof ServiceClosing) closing.abort(signal.reason);
  });
  return closing.signal;
}

function unlessOfStore(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}

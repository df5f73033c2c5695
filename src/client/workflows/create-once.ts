import { join } from "node:path";
import { type Clock, waitUnlessAborted } from "../../core/clock.js";
import { makePrivateFolder } from "../../core/files/file-access.js";
import { checkHolderLiveness } from "../../core/files/file-lock/holder.js";
import { acquireLock, LockHeldError } from "../../core/files/file-lock.js";
import { createLocalError, hashSha256, LocalError } from "../../core/files/local-error.js";
import { DAY_MS } from "../../core/protocol/rate-limits.js";
import { RefusedError, UnreachableError } from "../calls/errors.js";
import type { CallOptions } from "../calls/research-client.js";
import { addProviderDefaults } from "../dialects/providers.js";
import {
  type CreateIdentity,
  computeUnsentKey,
  type UnsettledCreate,
} from "../store/history/equal-creates.js";
import type { History } from "../store/history/history.js";
import type { HistoryEntry } from "../store/history/history-records.js";
import {
  type AccountRequest,
  type FallbackOptions,
  getApiKey,
  submitWithFallback,
} from "./account-fallback.js";
import { CreateRefusedError, QuotaExceededError, UnresolvedCreateError } from "./errors.js";
import type { SubmittedRequest } from "./submit-request.js";

/** How long another process may take for its create call, in milliseconds. After that the outcome counts as unknown. */
const LONGEST_CREATE_MS = 180_000;
/** How long to wait for another process before the wait is announced, in milliseconds. */
const QUIET_MS = 2_000;
/** Interval at which the history is read while another process creates, in milliseconds. */
const LOOK_MS = 50;

/** A request that was just created, or an earlier equal one, with its account. */
export type CreatedOnce = { request: AccountRequest } & (
  | { kind: "created"; submitted: SubmittedRequest }
  | { kind: "reused"; entry: HistoryEntry }
);

export interface CreateOnceOptions extends CallOptions {
  /** Whether to create even if the same request exists. A create call in progress is awaited in either case. */
  repeat?: boolean | undefined;
  /** Maximum age of a request that is reused, in milliseconds; default: a day (contract §8, §12). */
  withinMs?: number | undefined;
  /** Called once if another process creates the same request. `until`: when the wait ends at the latest, epoch milliseconds. */
  onUnderWay?: (until: number) => void | Promise<void>;
  /** The options of the create call. Its `signal` ends the exchange; the `signal` of this call only ends the wait. */
  submit: FallbackOptions;
}

/** A create call at one account, with the name that equal create calls share. */
interface DedupRequest {
  request: AccountRequest;
  create: CreateIdentity;
  name: string;
}

/**
 * Creates requests for a caller that may repeat itself after a lost answer. If an equal request (prompt, schema, origin
 * and key) is younger than `withinMs`, returns that one, unless it is recorded as FAILED or STOPPED.
 */
export class CreateOnce {
  /** The create calls in progress in this process. */
  readonly #running = new Set<Promise<unknown>>();
  #sent = 0;

  /** `most`: the maximum number of create calls of this object; Infinity for no limit. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** Resolves when the outcome of every create call that this process has begun is known. */
  async waitUntilSettled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /**
   * Creates a request at the first account that accepts it, unless one of them has an equal one. Rejects with
   * CreateRefusedError without a history or after `most` calls, with UnresolvedCreateError (nothing is sent) if an
   * equal one of any age has an unknown outcome, with LocalError, and as `submitWithFallback` does. After an abort it
   * rejects with `signal.reason`, but the create call goes on, and the next equal call waits for it.
   */
  async create(requests: readonly AccountRequest[], options: CreateOnceOptions): Promise<CreatedOnce> {
    const wanted = requests.flatMap((request) => buildDedupRequest(request) ?? []);
    if (wanted.length === 0) for (const { account } of requests) void account.apiKey;
    const [history] = wanted.map(({ request }) => request.account.history);
    if (!history || wanted.some(({ request }) => !request.account.history))
      throw new CreateRefusedError("no-history");
    const work = new LockedCreate(history, wanted, options).run(() => this.#send(requests, options.submit));
    this.#running.add(work);
    const noteDone = () => void this.#running.delete(work);
    work.then(noteDone, noteDone);
    return await waitUnlessAborted(work, options.signal);
  }

  async #send(requests: readonly AccountRequest[], options: FallbackOptions) {
    if (this.#sent >= this.most) throw new CreateRefusedError("used-up");
    this.#sent += 1;
    try {
      return await submitWithFallback(requests, options);
    } catch (error) {
      if (NOTHING_MADE.some((kind) => error instanceof kind)) this.#sent -= 1;
      throw error;
    }
  }
}

/** Errors of `submit` after which it is certain that no request exists. */
const NOTHING_MADE = [RefusedError, UnreachableError, QuotaExceededError, LocalError];

/** Builds the create call of an account; undefined if the account has no key and so no earlier create calls. */
function buildDedupRequest(request: AccountRequest): DedupRequest | undefined {
  const { account } = request;
  const apiKey = getApiKey(account);
  if (apiKey === undefined) return undefined;
  const create = {
    origin: account.origin,
    apiKey,
    body: addProviderDefaults(account.provider, request.body),
  };
  return { request, create, name: hashSha256(computeUnsentKey(create)) };
}

/** A create call that holds the lock of its name, so that no other process sends an equal one. */
class LockedCreate {
  readonly #clock: Clock;
  /** The local ids of the equal create calls that existed when the call began. */
  readonly #older: ReadonlySet<string>;

  constructor(
    private readonly history: History,
    private readonly wanted: readonly DedupRequest[],
    private readonly options: CreateOnceOptions,
  ) {
    const [{ request }] = wanted as [DedupRequest];
    this.#clock = request.account.clock;
    this.#older = new Set(this.#listSeen().made.map(({ entry }) => entry.local_id));
  }

  async run(
    send: () => Promise<{ submitted: SubmittedRequest; request: AccountRequest }>,
  ): Promise<CreatedOnce> {
    const { repeat, onUnderWay } = this.options;
    const until = this.#clock.now() + LONGEST_CREATE_MS;
    const isOver = new AbortController();
    // The call takes this long only if another process creates the same request.
    this.#clock.sleep(QUIET_MS, isOver.signal).then(
      () => onUnderWay?.(until),
      () => {},
    );
    let release = () => {};
    try {
      release = await this.#acquire();
      const made = await this.#waitUntilSettled();
      isOver.abort();
      const entry = made.find(({ entry: { status, local_id, cut_short } }) => {
        const hasFailed = (status === "FAILED" && !cut_short) || status === "STOPPED";
        return !hasFailed && !(repeat && this.#older.has(local_id));
      });
      return entry ? { kind: "reused", ...entry } : { kind: "created", ...(await send()) };
    } finally {
      isOver.abort();
      release();
    }
  }

  /** Waits until all equal create calls have an outcome, and returns them, newest first. Rejects with UnresolvedCreateError for an unknown outcome. */
  async #waitUntilSettled() {
    for (;;) {
      const { made, unsettled } = this.#listSeen();
      if (unsettled.length === 0) return made;
      const now = this.#clock.now();
      const underWay = await Promise.all(unsettled.map((create) => isStillSending(create, now)));
      const lost = unsettled.find((_, index) => !underWay[index]);
      if (lost) {
        // The outcome may have been recorded between the reading of the history and the check of its process.
        const still = this.#listSeen().unsettled;
        const entry = still.find((create) => create.entry.local_id === lost.entry.local_id)?.entry;
        if (entry) throw UnresolvedCreateError.of(entry);
      }
      await this.#clock.sleep(LOOK_MS, this.options.submit.signal);
    }
  }

  /** Lists the recorded create calls that are equal, at all accounts. */
  #listSeen() {
    const since = this.#clock.now() - (this.options.withinMs ?? DAY_MS);
    const seen = this.wanted.map(({ request, create }) => ({
      request,
      same: this.history.findSame(create, since),
    }));
    return {
      made: seen.flatMap(({ request, same }) => same.made.map((entry) => ({ entry, request }))),
      unsettled: seen.flatMap(({ same }) => same.unsettled),
    };
  }

  /** Takes the locks of all names, in sorted order. Rejects with UnresolvedCreateError if another process holds one for too long. */
  async #acquire(): Promise<() => void> {
    const { signal } = this.options.submit;
    const { unsettled } = this.#listSeen();
    const end = this.#clock.monotonic() + LONGEST_CREATE_MS;
    const held: (() => void)[] = [];
    const release = () => {
      for (const lock of held.splice(0)) lock();
    };
    try {
      const locks = join(this.history.folder, "creates");
      makePrivateFolder(locks);
      for (const name of [...new Set(this.wanted.map((wanted) => wanted.name))].sort()) {
        const waitMs = Math.max(end - this.#clock.monotonic(), 1);
        held.push(await acquireLock(join(locks, `${name}.lock`), waitMs, signal));
      }
      return release;
    } catch (error) {
      release();
      signal?.throwIfAborted();
      if (!(error instanceof LockHeldError))
        throw createLocalError("the request was not sent: its lock could not be taken", error);
      const entry = this.#listSeen().unsettled[0]?.entry ?? unsettled[0]?.entry;
      if (entry) throw UnresolvedCreateError.of(entry);
      throw new UnresolvedCreateError(`it is under way: ${error.holder}`, {}, undefined, undefined);
    }
  }
}

async function isStillSending({ entry, sender }: UnsettledCreate, now: number): Promise<boolean> {
  if (!sender) return false;
  // A process in another container cannot be checked, so the age of its create call decides.
  const isRecent = now - Date.parse(entry.sent_at) < LONGEST_CREATE_MS;
  return isRecent && (await checkHolderLiveness(sender)) !== "dead";
}

import { join } from "node:path";
import { type Clock, waitUnlessAborted } from "../../core/clock.js";
import { makeFolder } from "../../core/files/files.js";
import { createLocalError, hashSha256, LocalError } from "../../core/files/local-error.js";
import { checkLiveness } from "../../core/files/lock/holder.js";
import { HeldError, lock } from "../../core/files/lock.js";
import { DAY_MS } from "../../core/protocol/limits.js";
import type { CallOptions } from "../calls/client.js";
import { RefusedError, UnreachableError } from "../calls/errors.js";
import { addDefaults } from "../dialects/providers.js";
import { nameWanted, type UnsettledCreate, type WantedCreate } from "../store/history/create-names.js";
import type { History } from "../store/history/history.js";
import type { HistoryEntry } from "../store/history/records.js";
import { CreateRefusedError, QuotaExceededError, UnresolvedCreateError } from "./errors.js";
import { type AskedAccount, type FirstAccountOptions, getKey, submitToFirst } from "./first-account.js";
import type { Ports } from "./ports.js";
import type { Submitted } from "./submit.js";

/** How long another process may take for its create, in milliseconds; after that its outcome counts as unknown. */
const LONGEST_CREATE_MS = 180_000;
/** A wait for another process is announced after so many milliseconds. */
const QUIET_MS = 2_000;
/** How soon the history is looked at again while another process creates, in milliseconds. */
const LOOK_MS = 50;

/** A request that was just made, or one that is the same; and the account that has it. */
export type CreatedOnce<P extends Ports = Ports> = { account: AskedAccount<P> } & (
  | { kind: "created"; submitted: Submitted }
  | { kind: "reused"; entry: HistoryEntry }
);

export interface CreateOnceOptions extends CallOptions {
  /** Whether to make a request although there is one like it. One that is under way is waited for all the same. */
  repeat?: boolean | undefined;
  /** How old a request may be that is given back, in milliseconds; default: a day (contract §8, §12). */
  withinMs?: number | undefined;
  /** Called once where another process creates the same: it is waited for, until then (epoch milliseconds) at most. */
  onUnderWay?: (until: number) => void | Promise<void>;
  /** For what is sent: its `signal` ends the exchange itself. The one of this call only ends the wait for it. */
  submit: FirstAccountOptions;
}

/** A create by its name at an account. */
interface Wanted<P extends Ports> {
  account: AskedAccount<P>;
  create: WantedCreate;
  name: string;
}

/**
 * Creates for a caller that may repeat itself after a lost answer. The same prompt and schema at the same origin with
 * the same key give back the request of the last hour, unless it is recorded as FAILED or STOPPED.
 */
export class CreateOnce {
  /** What this process creates now. */
  readonly #running = new Set<Promise<unknown>>();
  #sent = 0;

  /** `most`: how many creates may be sent in all; Infinity for no limit. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** Resolves when every create that this process has begun is settled. */
  async waitUntilSettled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /**
   * Creates at the first of `accounts` that takes it, unless one of them has made the same. Rejects with
   * CreateRefusedError without a history and once all creates are sent, with UnresolvedCreateError for a create of any
   * age whose outcome is unknown (nothing is sent), with LocalError, as `submitToFirst` does, or with `signal.reason`:
   * then the create goes on, and the next call with the same arguments waits for it.
   */
  async create<P extends Ports>(
    accounts: readonly AskedAccount<P>[],
    options: CreateOnceOptions,
  ): Promise<CreatedOnce<P>> {
    const wanted = accounts.flatMap((account) => buildWanted(account) ?? []);
    if (wanted.length === 0) for (const { ports } of accounts) void ports.apiKey;
    const [history] = wanted.map(({ account }) => account.ports.history);
    if (!history || wanted.some(({ account }) => !account.ports.history))
      throw new CreateRefusedError("no-history");
    const work = new SoleCreate(history, wanted, options).run(() => this.#send(accounts, options.submit));
    this.#running.add(work);
    const noteDone = () => void this.#running.delete(work);
    work.then(noteDone, noteDone);
    return await waitUnlessAborted(work, options.signal);
  }

  async #send<P extends Ports>(accounts: readonly AskedAccount<P>[], options: FirstAccountOptions) {
    if (this.#sent >= this.most) throw new CreateRefusedError("used-up");
    this.#sent += 1;
    try {
      return await submitToFirst(accounts, options);
    } catch (error) {
      if (NOTHING_MADE.some((kind) => error instanceof kind)) this.#sent -= 1;
      throw error;
    }
  }
}

/** Errors of `submit` which say that no request was made. */
const NOTHING_MADE = [RefusedError, UnreachableError, QuotaExceededError, LocalError];

/** Undefined for an account without a key where others are named: it has made nothing. */
function buildWanted<P extends Ports>(account: AskedAccount<P>): Wanted<P> | undefined {
  const { ports } = account;
  const apiKey = getKey(ports);
  if (apiKey === undefined) return undefined;
  const create = { origin: ports.origin, apiKey, body: addDefaults(ports.provider, account.body) };
  return { account, create, name: hashSha256(nameWanted(create)) };
}

/** A create with its name locked: no other process makes the same one meanwhile. */
class SoleCreate<P extends Ports> {
  readonly #clock: Clock;
  /** The local ids that were known when the call came. */
  readonly #older: ReadonlySet<string>;

  constructor(
    private readonly history: History,
    private readonly wanted: readonly Wanted<P>[],
    private readonly options: CreateOnceOptions,
  ) {
    const [{ account }] = wanted as [Wanted<P>];
    this.#clock = account.ports.clock;
    this.#older = new Set(this.#listSeen().made.map(({ entry }) => entry.local_id));
  }

  async run(
    send: () => Promise<{ submitted: Submitted; account: AskedAccount<P> }>,
  ): Promise<CreatedOnce<P>> {
    const { repeat, onUnderWay } = this.options;
    const until = this.#clock.now() + LONGEST_CREATE_MS;
    const isOver = new AbortController();
    // It takes long only if another process creates the same.
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

  /** The same creates, the newest first, once none is under way. Rejects with UnresolvedCreateError if one is unknown. */
  async #waitUntilSettled() {
    for (;;) {
      const { made, unsettled } = this.#listSeen();
      if (unsettled.length === 0) return made;
      const now = this.#clock.now();
      const underWay = await Promise.all(unsettled.map((create) => isUnderWay(create, now)));
      const lost = unsettled.find((_, index) => !underWay[index]);
      if (lost) {
        // It may have been settled between the look at the history and the one at its process.
        const still = this.#listSeen().unsettled;
        const entry = still.find((create) => create.entry.local_id === lost.entry.local_id)?.entry;
        if (entry) throw UnresolvedCreateError.of(entry);
      }
      await this.#clock.sleep(LOOK_MS, this.options.submit.signal);
    }
  }

  /** What the history has of the creates, at all their accounts. */
  #listSeen() {
    const since = this.#clock.now() - (this.options.withinMs ?? DAY_MS);
    const seen = this.wanted.map(({ account, create }) => ({
      account,
      same: this.history.findSame(create, since),
    }));
    return {
      made: seen.flatMap(({ account, same }) => same.made.map((entry) => ({ entry, account }))),
      unsettled: seen.flatMap(({ same }) => same.unsettled),
    };
  }

  /** Takes the locks of all names in one order. Rejects with UnresolvedCreateError if one is held for too long. */
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
      makeFolder(locks);
      for (const name of [...new Set(this.wanted.map((wanted) => wanted.name))].sort()) {
        const waitMs = Math.max(end - this.#clock.monotonic(), 1);
        held.push(await lock(join(locks, `${name}.lock`), waitMs, signal));
      }
      return release;
    } catch (error) {
      release();
      signal?.throwIfAborted();
      if (!(error instanceof HeldError))
        throw createLocalError("the request was not sent: its lock could not be taken", error);
      const entry = this.#listSeen().unsettled[0]?.entry ?? unsettled[0]?.entry;
      if (entry) throw UnresolvedCreateError.of(entry);
      throw new UnresolvedCreateError(`it is under way: ${error.holder}`, {}, undefined, undefined);
    }
  }
}

async function isUnderWay({ entry, sender }: UnsettledCreate, now: number): Promise<boolean> {
  if (!sender) return false;
  // A process in another container cannot be asked, so the time decides.
  const isRecent = now - Date.parse(entry.sent_at) < LONGEST_CREATE_MS;
  return isRecent && (await checkLiveness(sender)) !== "dead";
}

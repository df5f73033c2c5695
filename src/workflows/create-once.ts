import { join } from "node:path";
import type { CallOptions } from "../client/client.js";
import { RefusedError, UnreachableError } from "../client/errors.js";
import { untilAborted } from "../clock.js";
import { livenessOf, lock } from "../lock.js";
import type { CreateBody } from "../protocol/conversation.js";
import { LocalError, localError, makeFolder, sha256 } from "../store/files.js";
import {
  type History,
  type HistoryEntry,
  type UnsettledCreate,
  wantedName,
} from "../store/history/history.js";
import { CreateRefusedError, QuotaExceededError, UnresolvedCreateError } from "./errors.js";
import { type SendOptions, type SubmitPorts, type Submitted, submit, withModel } from "./submit.js";

/** A request that was made within this time, in milliseconds, is given back instead of being made once more. */
const REUSE_MS = 3_600_000;
/** How long another process may take for its create, in milliseconds; after that its outcome counts as unknown. */
const LONGEST_CREATE_MS = 180_000;
/** How soon the history is looked at again while another process creates, in milliseconds. */
const LOOK_MS = 50;

/** A request that was just made, or one of the last hour that is the same. */
export type CreatedOnce = { kind: "created"; submitted: Submitted } | { kind: "reused"; entry: HistoryEntry };

export interface CreateOnceOptions extends CallOptions {
  /** Whether to make a request although there is one like it. One that is under way is waited for all the same. */
  repeat?: boolean | undefined;
  /** For what is sent: its `signal` ends the exchange itself. The one of this call only ends the wait for it. */
  submit: SendOptions;
}

/**
 * Creates for a caller that may repeat itself after a lost answer. The same prompt and schema at the same origin with
 * the same key give back the request of the last hour, unless it is recorded as FAILED or STOPPED.
 */
export class CreateOnce {
  /** What this process creates now, by name. */
  readonly #running = new Map<string, Promise<CreatedOnce>>();
  #sent = 0;

  /** `most`: how many creates may be sent in all; Infinity for no limit. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** Resolves when every create that this process has begun is settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  /**
   * Rejects with CreateRefusedError without a history and once all creates are sent, with UnresolvedCreateError for a create of any age whose
   * outcome is unknown (nothing is sent), with LocalError, as `submit` does, or with `signal.reason`: then the create
   * goes on, and the next call with the same arguments waits for it.
   */
  async create(ports: SubmitPorts, asked: CreateBody, options: CreateOnceOptions): Promise<CreatedOnce> {
    const body = withModel(ports, asked);
    const { history, origin, apiKey } = ports;
    if (!history) throw new CreateRefusedError("no-history");
    const wanted = { origin, apiKey, body };
    const name = sha256(wantedName(wanted));
    const older = new Set(recent(ports, history, body).made.map(({ local_id }) => local_id));
    for (;;) {
      const running = this.#running.get(name);
      if (!running) break;
      await untilAborted(
        running.catch(() => {}),
        options.signal,
      );
    }
    const send = () => this.#send(ports, body, options.submit);
    const work = createAlone(ports, history, body, { ...options, name, older, send });
    this.#running.set(name, work);
    const done = () => void this.#running.delete(name);
    work.then(done, done);
    return await untilAborted(work, options.signal);
  }

  async #send(ports: SubmitPorts, body: CreateBody, options: SendOptions): Promise<Submitted> {
    if (this.#sent >= this.most) throw new CreateRefusedError("used-up");
    this.#sent += 1;
    try {
      return await submit(ports, body, options);
    } catch (error) {
      if (NOTHING_MADE.some((kind) => error instanceof kind)) this.#sent -= 1;
      throw error;
    }
  }
}

/** Errors of `submit` which say that no request was made. */
const NOTHING_MADE = [RefusedError, UnreachableError, QuotaExceededError, LocalError];

/** One process at a time for creates of one name. `older`: the local ids that were known when the call came. */
async function createAlone(
  ports: SubmitPorts,
  history: History,
  body: CreateBody,
  options: CreateOnceOptions & { name: string; older: ReadonlySet<string>; send: () => Promise<Submitted> },
): Promise<CreatedOnce> {
  const { name, older, repeat, send, submit: submitOptions } = options;
  const release = await acquire(history.folder, name, submitOptions.signal);
  try {
    const made = await settledCreates(ports, history, body, submitOptions.signal);
    const entry = made.find(({ status, local_id, cut_short }) => {
      const hasFailed = (status === "FAILED" && !cut_short) || status === "STOPPED";
      return !hasFailed && !(repeat && older.has(local_id));
    });
    if (entry) return { kind: "reused", entry };
    return { kind: "created", submitted: await send() };
  } finally {
    release();
  }
}

/**
 * The same creates of the last hour, the newest first, once none of them is under way. Rejects with
 * UnresolvedCreateError if the outcome of one is unknown, of any age.
 */
async function settledCreates(
  ports: SubmitPorts,
  history: History,
  body: CreateBody,
  signal: AbortSignal | undefined,
): Promise<HistoryEntry[]> {
  const { clock } = ports;
  for (;;) {
    const { made, unsettled } = recent(ports, history, body);
    if (unsettled.length === 0) return made;
    const underWay = await Promise.all(unsettled.map((create) => isUnderWay(create, clock.now())));
    const lost = unsettled.find((_, index) => !underWay[index]);
    if (lost) {
      // It may have been settled between the look at the history and the one at its process.
      const still = recent(ports, history, body).unsettled;
      const entry = still.find((create) => create.entry.local_id === lost.entry.local_id)?.entry;
      if (entry) throw UnresolvedCreateError.of(entry);
    }
    await clock.sleep(LOOK_MS, signal);
  }
}

async function isUnderWay({ entry, sender }: UnsettledCreate, now: number): Promise<boolean> {
  if (!sender) return false;
  // A process in another container cannot be asked, so the time decides.
  const isRecent = now - Date.parse(entry.sent_at) < LONGEST_CREATE_MS;
  return isRecent && (await livenessOf(sender, "", "")) !== "dead";
}

function recent({ origin, apiKey, clock }: SubmitPorts, history: History, body: CreateBody) {
  return history.same({ origin, apiKey, body }, clock.now() - REUSE_MS);
}

async function acquire(folder: string, name: string, signal: AbortSignal | undefined): Promise<() => void> {
  const locks = join(folder, "creates");
  try {
    makeFolder(locks);
    return await lock(join(locks, `${name.slice(0, 32)}.lock`), LONGEST_CREATE_MS, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw localError("the request was not sent, since the same one may be under way", error);
  }
}

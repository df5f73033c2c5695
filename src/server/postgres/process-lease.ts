import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.js";
import type { ResearcherFacts } from "../../core/researcher.js";
import { type Log, TroubleLog } from "../monitoring/operator-log.js";
import type { Role } from "../process-role.js";
import { ServiceStartError } from "../start-error.js";
import { type Database, defineSql } from "./database.js";
import { notifyProcesses } from "./notifications.js";

/** Starts a lease. Parameters: id, role, settings, lease in ms, model, whether it reports dollars. */
const JOIN = defineSql("join")`
  INSERT INTO research.processes (id, role, settings, expires_at, model, says_dollars)
  VALUES ($1, $2, $3, now() + $4::float8 * interval '1 ms', $5, $6)`;

/** Renews a lease that has not expired. Parameters: id, lease in ms. Reads no table that a statement may lock. */
const RENEW = defineSql("renew")`
  UPDATE research.processes SET expires_at = now() + $2::float8 * interval '1 ms'
  WHERE id = $1 AND expires_at > now() RETURNING id`;

/** Returns the conversations under a lease; no row if the lease has expired. Parameter: id. */
const HELD = defineSql("held")`
  SELECT ARRAY(SELECT request_id::text FROM research.conversations WHERE worker = $1) AS held
  FROM research.processes WHERE id = $1 AND expires_at > now()`;

/** Deletes expired leases. The foreign key returns the work of those processes to the queue. */
const DELETE_EXPIRED = defineSql("delete-expired")`
  DELETE FROM research.processes WHERE id IN (
    SELECT id FROM research.processes WHERE expires_at < now() FOR UPDATE SKIP LOCKED
  ) RETURNING role`;

const LEAVE = defineSql("leave")`DELETE FROM research.processes WHERE id = $1`;

/** Declares the settings of a process. Parameters: id, settings. */
const SET_SETTINGS = defineSql("set-settings")`UPDATE research.processes SET settings = $2 WHERE id = $1`;

/** Declares a researcher. Parameters: id, model, whether it reports dollars. Forgets missing costs, because the model may now report them. */
const SET_FACTS = defineSql("set-facts")`
  WITH forgotten AS (UPDATE research.models SET unpriced = 0 WHERE model = coalesce($2, ''))
  UPDATE research.processes SET model = $2, says_dollars = $3 WHERE id = $1`;

/** Returns a row if another live process declared different settings. Parameter: settings. */
const OTHER_SETTINGS = defineSql(
  "other-settings",
)`SELECT FROM research.processes WHERE settings <> $1 AND expires_at > now() LIMIT 1`;

export interface LeaseOptions {
  database: Database;
  clock: Clock;
  role: Role;
  leaseMs: number;
  /** Called with the ids that the database lists as claimed by this process. `askedAt`: when it was asked, monotonic ms. */
  onLooked: (held: ReadonlySet<string>, askedAt: number) => void | Promise<void>;
  /** Called when the lease has expired, so that other processes may have taken the work. A new lease follows. */
  onLost: () => void;
  log: Log;
}

/** How many times a lease is renewed before it would expire, and the interval (ms) at which expired leases are deleted. */
const RENEWALS = 3;
const LOOK_MS = 500;

/** The database row that marks this process as live. If the row is deleted, the process's work returns to the queue. */
export class ProcessLease {
  /** The id of the current lease. Each lease has a new one, so that a write under a lost lease does not count for the next. */
  id = randomUUID();
  /** Number of lost leases. */
  lost = 0;
  readonly #closing = new AbortController();
  /** Monotonic ms, like the next two fields. */
  #expiresAt = Number.NEGATIVE_INFINITY;
  #renewAt = Number.NEGATIVE_INFINITY;
  #lookAt = Number.NEGATIVE_INFINITY;
  #done: Promise<unknown> | undefined;
  #settings: string | undefined;
  #facts: [model: string | undefined, saysDollars: boolean] = [undefined, true];
  readonly #troubles: TroubleLog;

  constructor(private readonly options: LeaseOptions) {
    this.#troubles = new TroubleLog(options.log, options.clock);
  }

  get isValid(): boolean {
    return this.options.clock.monotonic() < this.#expiresAt;
  }

  /** Starts the first lease, and renews it until `close`. Rejects as `Database.run` does. */
  async open(): Promise<void> {
    await this.#join();
    this.#done = Promise.all([
      this.#repeat("renewals of the lease", () => this.#renew()),
      this.#repeat("looks at leases", () => this.#look()),
      this.#watchExpiry(),
    ]);
  }

  /**
   * Declares this process's settings, then reads the others'. In this order, at least one of two processes that start
   * at the same time sees the other's. Rejects with a ServiceStartError if they differ.
   */
  async agreeOn(settings: string): Promise<void> {
    const { database } = this.options;
    this.#settings = settings;
    await database.run(SET_SETTINGS, [this.id, settings]);
    const others = await database.read(OTHER_SETTINGS, [settings]);
    if (others.length === 0) return;
    throw new ServiceStartError(
      "Other processes at this database run with another API key or other hourly limits. " +
        "Start this one with theirs, or stop them and wait until their lease has run out.",
    );
  }

  async declareResearch({ model, saysDollars = true }: ResearcherFacts): Promise<void> {
    this.#facts = [model, saysDollars];
    await this.options.database.run(SET_FACTS, [this.id, ...this.#facts]);
  }

  /** Makes the next check of expired leases also check which claims this lease covers, in case a notification was missed. */
  lookSoon(): void {
    this.#lookAt = Number.NEGATIVE_INFINITY;
  }

  /** Ends the lease, which returns all claims under it. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closing"));
    if (this.#done === undefined) return;
    await this.#done;
    await this.options.database.run(LEAVE, [this.id]).catch(() => {});
  }

  async #repeat(what: string, task: () => Promise<void>): Promise<void> {
    const { clock, leaseMs } = this.options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await task();
        this.#troubles.noteRecovery(what);
      } catch (error) {
        this.#troubles.noteFailure(what, error);
      }
      await clock.sleep(Math.min(LOOK_MS, leaseMs / RENEWALS), signal).catch(() => {});
    }
  }

  /** Notices the end of the lease by the clock, because the database may be unreachable. */
  async #watchExpiry(): Promise<void> {
    const { clock } = this.options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const left = this.#expiresAt - clock.monotonic();
      if (left <= 0) this.#lose();
      await clock.sleep(Math.max(left, LOOK_MS / 10), signal).catch(() => {});
    }
  }

  async #renew(): Promise<void> {
    const { clock, database, leaseMs } = this.options;
    if (clock.monotonic() < this.#renewAt) return;
    if (this.#expiresAt === Number.NEGATIVE_INFINITY) return this.#join();
    const { id } = this;
    const askedAt = clock.monotonic();
    const [renewed] = await database.run(RENEW, [id, leaseMs], "urgent");
    if (id !== this.id) return;
    if (renewed === undefined) {
      this.#lose();
      return this.#join();
    }
    this.#extend(askedAt);
  }

  /** Checks which claims the lease covers, and returns the work of dead processes to the queue. */
  async #look(): Promise<void> {
    const { clock, database, leaseMs, onLooked } = this.options;
    const { id } = this;
    const askedAt = clock.monotonic();
    if (askedAt >= this.#lookAt) {
      const [covered] = await database.read(HELD, [id]);
      if (covered && id === this.id) await onLooked(new Set(covered.held), askedAt);
      this.#lookAt = askedAt + leaseMs / RENEWALS;
    }
    const dead = await database.run(DELETE_EXPIRED, []);
    if (dead.some(({ role }) => role !== "api")) notifyProcesses(database, "work");
  }

  async #join(): Promise<void> {
    const { clock, database, leaseMs, role } = this.options;
    const askedAt = clock.monotonic();
    const id = randomUUID();
    await database.run(JOIN, [id, role, this.#settings, leaseMs, ...this.#facts], "urgent");
    this.id = id;
    this.#extend(askedAt);
  }

  /** Extends the lease. Counts from before the request was sent, so that it expires here no later than in the database. */
  #extend(askedAt: number): void {
    this.#expiresAt = askedAt + this.options.leaseMs;
    this.#renewAt = askedAt + this.options.leaseMs / RENEWALS;
  }

  #lose(): void {
    if (this.#expiresAt === Number.NEGATIVE_INFINITY) return;
    this.#expiresAt = Number.NEGATIVE_INFINITY;
    this.#renewAt = Number.NEGATIVE_INFINITY;
    this.id = randomUUID();
    this.lost += 1;
    this.options.log("the lease of this process was lost: others may take its work");
    this.options.onLost();
  }
}

import { randomUUID } from "node:crypto";
import type { Clock } from "../../clock.js";
import { type Log, Troubles } from "../monitoring/log.js";
import type { Role } from "../role.js";
import { ServiceStartError } from "../start-error.js";
import { type Database, sql } from "./database.js";
import { notify } from "./notifications.js";

/** id, role, settings, lease in ms */
const JOIN = sql("join")`
  INSERT INTO research.processes (id, role, settings, expires_at)
  VALUES ($1, $2, $3, now() + $4::float8 * interval '1 ms')`;

/** id, lease in ms: a lease that has run out cannot be renewed. `held` are the conversations that it covers. */
const RENEW = sql("renew")`
  WITH renewed AS (
    UPDATE research.processes SET expires_at = now() + $2::float8 * interval '1 ms'
    WHERE id = $1 AND expires_at > now() RETURNING id
  )
  SELECT ARRAY(SELECT request_id::text FROM research.conversations WHERE worker = $1) AS held FROM renewed`;

/** Deletes what has run out; the foreign key gives back the work of those processes. */
const DELETE_EXPIRED = sql("delete-expired")`
  DELETE FROM research.processes WHERE id IN (
    SELECT id FROM research.processes WHERE expires_at < now() FOR UPDATE SKIP LOCKED
  ) RETURNING role`;

const LEAVE = sql("leave")`DELETE FROM research.processes WHERE id = $1`;

/** id, settings */
const SET_SETTINGS = sql("set-settings")`UPDATE research.processes SET settings = $2 WHERE id = $1`;

/** settings: of the other processes that live. */
const OTHER_SETTINGS = sql(
  "other-settings",
)`SELECT FROM research.processes WHERE settings <> $1 AND expires_at > now() LIMIT 1`;

export interface LeaseOptions {
  database: Database;
  clock: Clock;
  role: Role;
  leaseMs: number;
  /** The ids that the database counts as held, a moment ago. */
  onRenewed: (held: ReadonlySet<string>, askedAt: number) => void | Promise<void>;
  /** The lease has run out: other processes may have taken the work. A new one follows. */
  onLost: () => void;
  log: Log;
}

/** A lease is renewed three times before it runs out; leases of the dead are looked for this often, ms. */
const RENEWALS = 3;
const LOOK_MS = 500;

/** The row that says that this process lives. What a process holds is given back when its row is deleted. */
export class ProcessLease {
  /** Changes with each lease, so that nothing done under a lost one is mistaken for this one's. */
  id = randomUUID();
  /** How many leases were lost. */
  lost = 0;
  readonly #closing = new AbortController();
  /** On the monotonic clock. */
  #expiresAt = Number.NEGATIVE_INFINITY;
  #renewAt = Number.NEGATIVE_INFINITY;
  #done: Promise<unknown> | undefined;
  #settings: string | null = null;
  readonly #troubles: Troubles;

  constructor(private readonly options: LeaseOptions) {
    this.#troubles = new Troubles(options.log);
  }

  get isValid(): boolean {
    return this.options.clock.monotonic() < this.#expiresAt;
  }

  /** Takes the first lease and keeps it until `close`. Rejects as `Database.run` does. */
  async open(): Promise<void> {
    await this.#join();
    this.#done = Promise.all([this.#keep(), this.#watchExpiry()]);
  }

  /**
   * Says what this process runs with. Its own settings are in the database before it looks, so that of two that
   * start at once at least one sees the other's. Rejects with a ServiceStartError if they differ.
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

  /** Renews soon, to learn what was missed. */
  renewSoon(): void {
    this.#renewAt = Number.NEGATIVE_INFINITY;
  }

  /** Gives the lease up, and with it all that it still covers. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closing"));
    if (this.#done === undefined) return;
    await this.#done;
    await this.options.database.run(LEAVE, [this.id]).catch(() => {});
  }

  async #keep(): Promise<void> {
    const { clock, database, leaseMs } = this.options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        if (clock.monotonic() >= this.#renewAt) await this.#renew();
        const dead = await database.run(DELETE_EXPIRED, []);
        if (dead.some(({ role }) => role !== "api")) notify(database, "work");
        this.#troubles.over("renewals of the lease");
      } catch (error) {
        this.#troubles.failed("renewals of the lease", error);
      }
      await clock.sleep(Math.min(LOOK_MS, leaseMs / RENEWALS), signal).catch(() => {});
    }
  }

  /** Does not wait for the database, which may be what is missing. */
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
    const { clock, database, leaseMs, onRenewed } = this.options;
    if (this.#expiresAt === Number.NEGATIVE_INFINITY) return this.#join();
    const { id } = this;
    const askedAt = clock.monotonic();
    const [renewed] = await database.run(RENEW, [id, leaseMs]);
    if (id !== this.id) return;
    if (renewed === undefined) {
      this.#lose();
      return this.#join();
    }
    this.#extend(askedAt);
    await onRenewed(new Set(renewed.held), askedAt);
  }

  async #join(): Promise<void> {
    const { clock, database, leaseMs, role } = this.options;
    const askedAt = clock.monotonic();
    const id = randomUUID();
    await database.run(JOIN, [id, role, this.#settings, leaseMs]);
    this.id = id;
    this.#extend(askedAt);
  }

  /** Counted from before the question, so that it runs out here no later than in the database. */
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

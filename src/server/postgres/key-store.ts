import type { QueryResultRow } from "pg";
import type { Clock } from "../../clock.js";
import type { KeyStore, ServiceKey } from "../keys/key-store.js";
import { type Database, StatementRefused, sql } from "./database.js";

/** id, name, hash, tier, creates, stops, created_at, expires_at. SQLSTATE 23505: the name is in use. */
const ADD = sql("add-key")`
  INSERT INTO research.keys (id, name, hash, tier, creates_per_hour, stops_per_hour, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

/** name, revoked_at */
const REVOKE = sql(
  "revoke-key",
)`UPDATE research.keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING id`;

/**
 * How many changes are known: all keys if there were others since. A key is added and revoked, and never changed or
 * deleted, so that the number of both tells.
 */
const CHANGED = sql("changed-keys")`
  SELECT * FROM research.keys
  WHERE (SELECT count(*) + count(revoked_at) FROM research.keys) <> $1 ORDER BY created_at, name`;

/** The keys are read again when they are so old, and asked for before an answer when they are older, ms. */
const READ_AGAIN_MS = 500;
const MAX_AGE_MS = 1_000;

/** Keys in the database, all of them in memory too: a made-up key costs no statement. */
export class PostgresKeyStore implements KeyStore {
  #keys = new Map<string, ServiceKey>();
  #changes = 0;
  /** When the question was asked that they answer, on the monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    /** For a store that does not share its connections. */
    readonly close: () => Promise<void> = async () => {},
  ) {}

  async list(): Promise<ServiceKey[]> {
    await this.#ask();
    return [...this.#keys.values()];
  }

  async add(key: ServiceKey): Promise<boolean> {
    const { id, name, hash, tier, limits, createdAt, expiresAt } = key;
    const dates = [new Date(createdAt), expiresAt === undefined ? null : new Date(expiresAt)];
    try {
      await this.database.run(ADD, [id, name, hash, tier, limits.create, limits.stop, ...dates]);
      this.#readAt = Number.NEGATIVE_INFINITY;
      return true;
    } catch (error) {
      if (error instanceof StatementRefused && error.code === "23505") return false;
      throw error;
    }
  }

  async revoke(name: string, at: number): Promise<boolean> {
    const rows = await this.database.run(REVOKE, [name, new Date(at)]);
    this.#readAt = Number.NEGATIVE_INFINITY;
    return rows.length > 0;
  }

  async find(hash: string): Promise<ServiceKey | undefined> {
    await this.#fresh();
    return this.#keys.get(hash);
  }

  async inUse(): Promise<boolean> {
    await this.#fresh();
    return this.#keys.size > 0;
  }

  async #fresh(): Promise<void> {
    const age = this.clock.monotonic() - this.#readAt;
    if (age > MAX_AGE_MS) await this.#read();
    else if (age > READ_AGAIN_MS) this.#read().catch(() => {});
  }

  #read(): Promise<void> {
    this.#reading ??= this.#ask().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #ask(): Promise<void> {
    const at = this.clock.monotonic();
    const rows = await this.database.read(CHANGED, [this.#changes]);
    this.#readAt = at;
    if (rows.length === 0) return;
    this.#keys = new Map(rows.map((row) => [row.hash, keyOf(row)]));
    this.#changes = rows.length + rows.filter((row) => row.revoked_at !== null).length;
  }
}

function keyOf(row: QueryResultRow): ServiceKey {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    tier: row.tier,
    limits: { create: row.creates_per_hour, stop: row.stops_per_hour },
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at?.getTime(),
    revokedAt: row.revoked_at?.getTime(),
  };
}

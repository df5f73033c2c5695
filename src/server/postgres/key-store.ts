import type { QueryResultRow } from "pg";
import type { Clock } from "../../core/clock.js";
import type { KeyBudgets, KeyStore, ServiceKey } from "../keys/key-store.js";
import { type Database, defineSql, StatementRefused } from "./database.js";

/** Adds a key. Parameters: the inserted columns in their order. SQLSTATE 23505: the name is in use. */
const ADD = defineSql("add-key")`
  INSERT INTO research.keys (id, name, hash, tier, creates_per_hour, stops_per_hour, created_at, expires_at,
    budget, budget_ms, at_once, dollars, dollars_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

/** Changes budgets. Parameters: name; for each of the three budgets whether it changes, its number and, except for at_once, its ms. */
const SET = defineSql("set-key")`
  UPDATE research.keys SET changes = changes + 1,
    budget = CASE WHEN $2 THEN $3 ELSE budget END, budget_ms = CASE WHEN $2 THEN $4 ELSE budget_ms END,
    at_once = CASE WHEN $5 THEN $6 ELSE at_once END,
    dollars = CASE WHEN $7 THEN $8 ELSE dollars END, dollars_ms = CASE WHEN $7 THEN $9 ELSE dollars_ms END
  WHERE name = $1 AND revoked_at IS NULL RETURNING id`;

/** Revokes a key. Parameters: name, revoked_at. */
const REVOKE = defineSql(
  "revoke-key",
)`UPDATE research.keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING id`;

/** Returns all keys if the database has more changes than this process knows. Parameter: their number. Keys are never deleted. */
const CHANGED = defineSql("changed-keys")`
  SELECT * FROM research.keys
  WHERE (SELECT count(*) + count(revoked_at) + coalesce(sum(changes), 0) FROM research.keys) <> $1 ORDER BY created_at, name`;

/** Ages in ms. Keys older than the first are read again; an answer waits for keys older than the second. */
const READ_AGAIN_MS = 500;
const MAX_AGE_MS = 1_000;

/** Caches all keys of the database, so that an invalid key costs no statement. */
export class PostgresKeyStore implements KeyStore {
  #keys = new Map<string, ServiceKey>();
  #changes = 0;
  /** Monotonic ms at which the cached keys were requested. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    /** Ends the connections if no store does. */
    readonly close: () => Promise<void> = async () => {},
  ) {}

  async list(): Promise<ServiceKey[]> {
    await this.#refresh();
    return [...this.#keys.values()];
  }

  async add(key: ServiceKey): Promise<boolean> {
    const { id, name, hash, tier, limits, budgets = {}, createdAt, expiresAt } = key;
    const dates = [new Date(createdAt), expiresAt && new Date(expiresAt)];
    try {
      await this.database.run(ADD, [
        ...[id, name, hash, tier, limits.create, limits.stop, ...dates],
        ...[
          budgets.budget?.most,
          budgets.budget?.ms,
          budgets.atOnce,
          budgets.dollars?.most,
          budgets.dollars?.ms,
        ],
      ]);
      this.#readAt = Number.NEGATIVE_INFINITY;
      return true;
    } catch (error) {
      if (error instanceof StatementRefused && error.code === "23505") return false;
      throw error;
    }
  }

  async set(name: string, budgets: KeyBudgets): Promise<boolean> {
    const rows = await this.database.run(SET, [
      name,
      ...["budget" in budgets, budgets.budget?.most, budgets.budget?.ms],
      ...["atOnce" in budgets, budgets.atOnce],
      ...["dollars" in budgets, budgets.dollars?.most, budgets.dollars?.ms],
    ]);
    this.#readAt = Number.NEGATIVE_INFINITY;
    return rows.length > 0;
  }

  async revoke(name: string, at: number): Promise<boolean> {
    const rows = await this.database.run(REVOKE, [name, new Date(at)]);
    this.#readAt = Number.NEGATIVE_INFINITY;
    return rows.length > 0;
  }

  async find(hash: string): Promise<ServiceKey | undefined> {
    await this.#refresh();
    return this.#keys.get(hash);
  }

  async isInUse(): Promise<boolean> {
    await this.#refresh();
    return this.#keys.size > 0;
  }

  async #refresh(): Promise<void> {
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
    this.#keys = new Map(rows.map((row) => [row.hash, convertKeyRow(row)]));
    this.#changes = rows.reduce((sum, row) => sum + 1 + row.changes + (row.revoked_at === null ? 0 : 1), 0);
  }
}

function convertKeyRow(row: QueryResultRow): ServiceKey {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    tier: row.tier,
    limits: { create: row.creates_per_hour, stop: row.stops_per_hour },
    ...((row.budget ?? row.dollars ?? row.at_once) !== null && { budgets: readBudgets(row) }),
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at?.getTime(),
    revokedAt: row.revoked_at?.getTime(),
  };
}

function readBudgets({ budget, budget_ms, at_once, dollars, dollars_ms }: QueryResultRow): KeyBudgets {
  const readRate = (most: number | null, ms: number) => (most === null ? undefined : { most, ms });
  return {
    budget: readRate(budget, budget_ms),
    dollars: readRate(dollars, dollars_ms),
    atOnce: at_once ?? undefined,
  };
}

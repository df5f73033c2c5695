import type { QueryResultRow } from "pg";
import type { Clock } from "../../clock.js";
import type { KeyStore, ServiceKey } from "../keys/key-store.js";
import { type Database, type Statement, StatementRefused } from "./database.js";

/** id, name, hash, tier, creates, stops, created_at, expires_at. SQLSTATE 23505: the name is in use. */
const ADD_KEY: Statement = {
  name: "add-key",
  text: `
    INSERT INTO research.keys (id, name, hash, tier, creates_per_hour, stops_per_hour, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
};

const LIST_KEYS: Statement = {
  name: "list-keys",
  text: "SELECT * FROM research.keys ORDER BY created_at, name",
};

/** name, revoked_at */
const REVOKE_KEY: Statement = {
  name: "revoke-key",
  text: "UPDATE research.keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING id",
};

/** hash */
const FIND_KEY: Statement = {
  name: "find-key",
  text: "SELECT * FROM research.keys WHERE hash = $1",
};

const KEYS_IN_USE: Statement = {
  name: "keys-in-use",
  text: "SELECT EXISTS (SELECT FROM research.keys) AS yes",
};

/** How old an answer may be, ms: a change is seen within a second everywhere. */
const MAX_AGE_MS = 500;
/** Answers that are kept; made-up keys must not fill the memory. */
const MOST_KEPT = 10_000;

interface Kept {
  at: number;
  answer: Promise<QueryResultRow[]>;
}

/** Keys in the database; what each request asks for is remembered for a moment. */
export class PostgresKeyStore implements KeyStore {
  readonly #kept = new Map<string, Kept>();
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    /** For a store that does not share its connections. */
    readonly close: () => Promise<void> = async () => {},
  ) {}

  async list(): Promise<ServiceKey[]> {
    return (await this.database.read(LIST_KEYS, [])).map(keyOf);
  }

  async add(key: ServiceKey): Promise<boolean> {
    const { id, name, hash, tier, limits, createdAt, expiresAt } = key;
    const dates = [new Date(createdAt), expiresAt === undefined ? null : new Date(expiresAt)];
    try {
      await this.database.run(ADD_KEY, [id, name, hash, tier, limits.create, limits.stop, ...dates]);
      this.#kept.clear();
      return true;
    } catch (error) {
      if (error instanceof StatementRefused && error.code === "23505") return false;
      throw error;
    }
  }

  async revoke(name: string, at: number): Promise<boolean> {
    const rows = await this.database.run(REVOKE_KEY, [name, new Date(at)]);
    this.#kept.clear();
    return rows.length > 0;
  }

  async find(hash: string): Promise<ServiceKey | undefined> {
    const [row] = await this.#recent(hash, () => this.database.read(FIND_KEY, [hash]));
    return row === undefined ? undefined : keyOf(row);
  }

  async inUse(): Promise<boolean> {
    const [row] = await this.#recent("", () => this.database.read(KEYS_IN_USE, []));
    return row?.yes === true;
  }

  #recent(name: string, ask: () => Promise<QueryResultRow[]>): Promise<QueryResultRow[]> {
    const at = this.clock.monotonic();
    const kept = this.#kept.get(name);
    if (kept !== undefined && at - kept.at < MAX_AGE_MS) return kept.answer;
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    const answer = ask();
    this.#kept.set(name, { at, answer });
    answer.catch(() => this.#kept.delete(name));
    return answer;
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
    ...(row.expires_at !== null && { expiresAt: row.expires_at.getTime() }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at.getTime() }),
  };
}

import type { ExchangeStore } from "../conversations/exchange-store.js";
import type { Database, Statement } from "./database.js";

/** request_id, record. Waits for a stop that is under way, and adds nothing after it (§3). */
const APPEND: Statement = {
  name: "append-exchange",
  text: `
    WITH open AS (
      SELECT request_id FROM research.conversations
      WHERE request_id = $1::uuid AND completed_at IS NULL FOR SHARE
    )
    INSERT INTO research.exchanges (request_id, record) SELECT request_id, $2 FROM open`,
};

const READ: Statement = {
  name: "read-exchanges",
  text: "SELECT record FROM research.exchanges WHERE request_id = $1::uuid ORDER BY number",
};

/** Exchanges in PostgreSQL: a stop deletes them, and so does the deletion of their conversation. */
export class PostgresExchanges implements ExchangeStore {
  constructor(private readonly database: Database) {}

  async read(requestId: string): Promise<unknown[]> {
    const rows = await this.database.read(READ, [requestId]);
    return rows.map(({ record }) => JSON.parse(record));
  }

  async append(requestId: string, record: object): Promise<void> {
    await this.database.run(APPEND, [requestId, JSON.stringify(record)]);
  }
}

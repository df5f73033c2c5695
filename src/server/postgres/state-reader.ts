import type { QueryResultRow } from "pg";
import type { Database } from "./database.js";
import { GET_MANY } from "./statements.js";

/** What is asked for in one turn of the event loop. */
interface Batch {
  ids: Set<string>;
  rows: Promise<Map<string, QueryResultRow>>;
}

/**
 * Reads states, which are asked for more often than all else: what arrives in one turn of the event loop is one
 * statement.
 */
export class StateReader {
  #next: Batch | undefined;
  constructor(private readonly database: Database) {}

  /** The row of that id (a UUID in lower case), whichever key it belongs to. Rejects as `Database.read` does. */
  async get(requestId: string): Promise<QueryResultRow | undefined> {
    this.#next ??= this.#begin();
    const { ids, rows } = this.#next;
    ids.add(requestId);
    return (await rows).get(requestId);
  }

  #begin(): Batch {
    const ids = new Set<string>();
    const read = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const rows = await this.database.read(GET_MANY, [[...ids]]);
      return new Map(rows.map((row) => [String(row.request_id), row]));
    };
    return { ids, rows: read() };
  }
}

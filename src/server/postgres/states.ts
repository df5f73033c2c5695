import type { QueryResultRow } from "pg";
import { isRequestId } from "../../protocol/conversation.js";
import type { Conversation } from "../conversations/conversation.js";
import type { Database, Statement } from "./database.js";

/** request_ids */
const GET: Statement = {
  name: "get",
  text: `
    SELECT request_id, key, status, created_at, completed_at, reason, progress FROM research.conversations
    WHERE request_id = ANY ($1::uuid[])`,
};

/** An id of this store is a UUID; PostgreSQL refuses any other text. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text may be an id of this store. */
export function isOwnId(requestId: string): boolean {
  return isRequestId(requestId) && UUID.test(requestId);
}

/** A row of research.conversations without its texts. */
export function conversationOf(requestId: string, row: QueryResultRow): Conversation {
  return {
    requestId: requestId.toLowerCase(),
    createdAt: row.created_at.getTime(),
    status: row.status,
    ...(row.completed_at !== null && { endedAt: row.completed_at.getTime() }),
    ...(row.reason !== null && { reason: JSON.parse(row.reason) }),
    ...(row.progress && { progress: row.progress }),
  };
}

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
      const rows = await this.database.read(GET, [[...ids]]);
      return new Map(rows.map((row) => [String(row.request_id), row]));
    };
    return { ids, rows: read() };
  }
}
